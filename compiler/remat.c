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

typedef struct {
    Pool *pool;
    const RematGraph *graph;
    const RematQuestion *question;
    RematSchedule *schedule;
    RematOrder *best;
    bool *alive; /* room for a flag per tensor */
    int64_t effort;
    bool peak_sought;
} Solve;

static bool fits(const Solve *s) {
    return s->best->peak <= s->question->capacity;
}

/* Does not depend on the capacity, so that what fits into less fits into more. */
static void seek_least_peak(Solve *s) {
    enum { SHARE = 2 };
    if (s->peak_sought)
        return;
    RematOrder least = given_order(s->pool, s->graph->noperation);
    CHECK(remat_measure(s->graph, INT64_MAX, s->alive, &least));
    const RematGoal goal = {REMAT_LEAST_PEAK, s->schedule->peak_lower_bound, 0, s->effort / SHARE};
    s->schedule->effort += remat_search(s->pool, s->graph, &goal, &least);
    if (least.peak < s->best->peak)
        *s->best = least;
    s->peak_sought = true;
}

static void seek_least_cost(Solve *s) {
    const int64_t capacity = s->question->capacity;
    RematGoal goal = {REMAT_FIRST, capacity, 0, s->effort};
    if (!s->question->any)
        goal = (RematGoal){REMAT_CHEAPEST, capacity, s->schedule->cost_lower_bound, s->effort};
    s->schedule->effort += remat_search(s->pool, s->graph, &goal, s->best);
}

/* Where it is in doubt whether anything fits, that is asked first. */
static void search(Solve *s) {
    const int64_t bound = s->schedule->peak_lower_bound, capacity = s->question->capacity;
    bool hopeless = capacity < bound, doubtful = capacity < bound + bound / 2;
    if (doubtful)
        seek_least_peak(s);
    const int64_t within = hopeless || (doubtful && !fits(s)) ? s->best->peak : capacity;
    if (!s->question->any)
        s->schedule->cost_lower_bound = remat_cost_bound(s->pool, s->graph, within);
    if (within == capacity)
        seek_least_cost(s);
    if (!fits(s))
        seek_least_peak(s);
}

/* Fills in all but the length, the operations, the cost and the peak. */
static void solve(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                  RematSchedule *schedule, RematOrder *best) {
    static const int64_t default_effort = 100000000;
    const RematGraph *graph = remat_graph(pool, problem);
    Solve s = {.pool = pool,
               .graph = graph,
               .question = question,
               .schedule = schedule,
               .best = best,
               .alive = NEW_ARRAY(pool, bool, graph->ntensor),
               .effort = question->effort > 0 ? question->effort : default_effort};
    CHECK(remat_measure(graph, question->capacity, s.alive, best));
    schedule->base_cost = schedule->cost_lower_bound = graph->base_cost;
    schedule->peak_lower_bound = remat_peak_bound(pool, graph);
    if (!fits(&s))
        search(&s);
}

bool remat_schedule(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                    RematSchedule *schedule) {
    RematOrder best = given_order(pool, problem->noperation);
    *schedule = (RematSchedule){0};
    if (has_small_totals(problem))
        solve(pool, problem, question, schedule, &best);
    schedule->length = best.length;
    schedule->operation = best.operation;
    schedule->peak = best.peak;
    schedule->cost = best.cost;
    return best.peak <= question->capacity;
}
