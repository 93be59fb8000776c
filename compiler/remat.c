/* remat.c - the entry points of recomputation: see remat.h.
 *
 * The problem is made compact (remat_graph.c), bounded from below (remat_bound.c) and, unless the given order
 * already fits, searched (remat_search.c).
 */
#include "remat_graph.h"

#include <string.h>

int64_t remat_peak(Pool *pool, const RematProblem *problem, const int *operation, int length) {
    const RematGraph *graph = remat_graph(pool, problem);
    RematOrder order = {.length = length, .operation = NEW_ARRAY(pool, int, length)};
    for (int i = 0; i < length; i++)
        order.operation[i] = operation[i];
    bool *alive = NEW_ARRAY(pool, bool, graph->ntensor);
    return remat_measure(graph, INT64_MAX, alive, &order) ? order.peak : -1;
}

bool remat_schedule(Pool *pool, const RematProblem *problem, int64_t capacity, int64_t effort,
                    RematSchedule *schedule) {
    static const int64_t default_effort = 100000000;
    const RematGraph *graph = remat_graph(pool, problem);
    RematOrder best = remat_order(pool, graph);
    for (int o = 0; o < graph->noperation; o++)
        best.operation[best.length++] = o;
    bool *alive = NEW_ARRAY(pool, bool, graph->ntensor);
    remat_measure(graph, capacity, alive, &best);
    *schedule = (RematSchedule){.base_cost = graph->base_cost,
                                .cost_lower_bound = graph->base_cost,
                                .peak_lower_bound = remat_peak_bound(pool, graph)};
    if (best.peak > capacity) {
        schedule->cost_lower_bound = remat_cost_bound(pool, graph, capacity);
        schedule->effort = remat_search(pool, graph, capacity, schedule->cost_lower_bound,
                                        effort > 0 ? effort : default_effort, &best);
    }
    schedule->length = best.length;
    schedule->operation = best.operation;
    schedule->peak = best.peak;
    schedule->cost = best.cost;
    return best.peak <= capacity;
}
