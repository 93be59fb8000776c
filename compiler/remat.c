/* remat.c - the entry points of recomputation: see remat.h.
 *
 * The problem is made compact (remat_graph.c), bounded from below (remat_bound.c) and, unless the given
 * order already fits, searched (remat_search.c).
 */
#include "remat_graph.h"
#include "diag.h"

#include <limits.h>

static bool add_total(int64_t *total, int64_t amount) {
    return amount >= 0 && !__builtin_add_overflow(*total, amount, total) && *total <= REMAT_LARGEST_TOTAL;
}

/* No sum of the search overflows then. */
static bool has_small_totals(const RematProblem *problem) {
    int64_t bytes = 0, cost = 0;
    bool small = problem->noperation <= INT_MAX / REMAT_MOST_REPEATS;
    for (int t = 0; t < problem->ntensor; t++)
        small = small && add_total(&bytes, problem->bytes[t]);
    for (int o = 0; o < problem->noperation; o++)
        small = small && add_total(&cost, problem->operation[o].cost) &&
                add_total(&bytes, problem->operation[o].scratch);
    return small;
}

int64_t remat_peak(Pool *pool, const RematProblem *problem, const int *operation, int length) {
    if (!has_small_totals(problem))
        return INT64_MAX;
    const RematGraph *graph = remat_graph(pool, problem);
    RematOrder order = {.length = length, .operation = NEW_ARRAY(pool, int, length)};
    for (int i = 0; i < length; i++)
        order.operation[i] = operation[i];
    bool *alive = NEW_ARRAY(pool, bool, graph->ntensor);
    return remat_measure(graph, INT64_MAX, alive, &order) ? order.peak : -1;
}

static RematOrder given_order(Pool *pool, int noperation) {
    RematOrder order = remat_order(pool, noperation);
    for (int o = 0; o < noperation; o++)
        order.operation[order.length++] = o;
    order.cost = order.peak = INT64_MAX;
    return order;
}

/* Fills in all but the length, the operations, the cost and the peak. */
static void improve(Pool *pool, const RematProblem *problem, int64_t capacity, int64_t effort,
                    RematSchedule *schedule, RematOrder *best) {
    static const int64_t default_effort = 100000000, share_if_hopeless = 4;
    const RematGraph *graph = remat_graph(pool, problem);
    bool *alive = NEW_ARRAY(pool, bool, graph->ntensor);
    CHECK(remat_measure(graph, capacity, alive, best));
    schedule->base_cost = schedule->cost_lower_bound = graph->base_cost;
    schedule->peak_lower_bound = remat_peak_bound(pool, graph);
    if (best->peak <= capacity)
        return;
    effort = effort > 0 ? effort : default_effort;
    if (capacity < schedule->peak_lower_bound) { /* the caller gets to know about the least peak */
        capacity = schedule->peak_lower_bound;
        effort /= share_if_hopeless;
    }
    schedule->cost_lower_bound = remat_cost_bound(pool, graph, capacity);
    schedule->effort = remat_search(pool, graph, capacity, schedule->cost_lower_bound, effort, best);
}

bool remat_schedule(Pool *pool, const RematProblem *problem, int64_t capacity, int64_t effort,
                    RematSchedule *schedule) {
    RematOrder best = given_order(pool, problem->noperation);
    *schedule = (RematSchedule){0};
    if (has_small_totals(problem))
        improve(pool, problem, capacity, effort, schedule, &best);
    schedule->length = best.length;
    schedule->operation = best.operation;
    schedule->peak = best.peak;
    schedule->cost = best.cost;
    return best.peak <= capacity;
}
