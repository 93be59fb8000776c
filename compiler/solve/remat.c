/* remat.c - the entry points of recomputation: see remat.h.
 *
 * The problem is made compact (remat_graph.c), bounded from below (remat_bound.c) and, unless the given
 * order already fits, searched (remat_search.c).
 */
#include "solve/remat_graph.h"
#include "base/diag.h"

#include <limits.h>

static bool add_total(int64_t *total, int64_t amount) {
    return amount >= 0 && !__builtin_add_overflow(*total, amount, total) && *total <= REMAT_MAX_TOTAL;
}

/* No sum of the search overflows then. */
static bool has_small_totals(const RematProblem *problem) {
    int64_t bytes = 0, cost = 0;
    bool small = problem->noperation <= INT_MAX / REMAT_MAX_REPEATS;
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

int64_t remat_cost_lower_bound(Pool *pool, const RematProblem *problem, int64_t capacity) {
    return has_small_totals(problem) ? remat_cost_bound(pool, remat_graph(pool, problem), capacity) : 0;
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
    RematOrder best[REMAT_SHARES];
    bool *alive; /* room for a flag per tensor */
    int64_t effort;
    bool peak_sought;
} Solve;

static bool is_hopeless(const Solve *s) {
    return s->question->capacity < s->schedule->peak_lower_bound;
}

static bool fits(const Solve *s) {
    return s->best[0].peak <= s->question->capacity;
}

static void given_orders(const Solve *s, RematOrder order[REMAT_SHARES]) {
    for (int k = 0; k < REMAT_SHARES; k++) {
        order[k] = given_order(s->pool, s->graph->noperation);
        CHECK(remat_measure(s->graph, s->question->capacity, s->alive, &order[k]));
    }
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The capacity ends the search but does not direct it: what fits into less fits into more, and where
 * nothing fits, the answer is the same for every capacity. */
static void find_min_peak(Solve *s) {
    enum { SHARE = 2, SHARE_FOR_AN_IDEA = 8 };
    if (s->peak_sought)
        return;
    RematOrder min[REMAT_SHARES];
    given_orders(s, min);
    const RematGoal goal = {.kind = REMAT_MIN_PEAK,
                            .capacity = s->schedule->peak_lower_bound,
                            .effort = s->effort /
                                      (is_hopeless(s) && s->question->any ? SHARE_FOR_AN_IDEA : SHARE),
                            .enough = larger(s->question->capacity, s->schedule->peak_lower_bound)};
    s->schedule->effort += remat_search(s->pool, s->graph, &goal, min);
    for (int k = 0; k < REMAT_SHARES; k++)
        s->best[k] = min[k];
    s->peak_sought = true;
}

static void find_min_cost(Solve *s) {
    const RematGoal goal = {.kind = s->question->any ? REMAT_FIRST : REMAT_CHEAPEST,
                            .capacity = s->question->capacity,
                            .effort = s->effort,
                            .cost_bound = s->schedule->cost_lower_bound};
    s->schedule->effort += remat_search(s->pool, s->graph, &goal, s->best);
}

/* Where it is in doubt whether anything fits, that is asked first. */
static void search(Solve *s) {
    const int64_t bound = s->schedule->peak_lower_bound, capacity = s->question->capacity;
    bool doubtful = capacity < bound + bound / 2;
    if (doubtful)
        find_min_peak(s);
    const int64_t within = is_hopeless(s) || (doubtful && !fits(s)) ? s->best[0].peak : capacity;
    if (!s->question->any)
        s->schedule->cost_lower_bound = remat_cost_bound(s->pool, s->graph, within);
    if (within == capacity)
        find_min_cost(s);
    if (!fits(s))
        find_min_peak(s);
}

static void write_schedule(const RematOrder *order, RematSchedule *schedule) {
    schedule->length = order->length;
    schedule->operation = order->operation;
    schedule->peak = order->peak;
    schedule->cost = order->cost;
}

/* The best, and behind it those that leave more and more; or, where nothing fits, that need a little more.
 */
static void write_answer(const Solve *s) {
    const RematSchedule **end = &s->schedule->other;
    write_schedule(&s->best[0], s->schedule);
    for (int k = 1; k < REMAT_SHARES; k++) {
        const int64_t peak = s->best[k].peak;
        if (fits(s) ? peak > remat_share(s->question->capacity, k) : peak > s->best[0].peak / 16 * 17)
            break;
        if (peak == s->best[k - 1].peak)
            continue;
        RematSchedule *other = NEW(s->pool, RematSchedule);
        *other = *s->schedule;
        other->other = NULL;
        write_schedule(&s->best[k], other);
        *end = other;
        end = &other->other;
    }
}

static void solve(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                  RematSchedule *schedule) {
    static const int64_t default_effort = 140000000;
    const RematGraph *graph = remat_graph(pool, problem);
    Solve s = {.pool = pool,
               .graph = graph,
               .question = question,
               .schedule = schedule,
               .alive = NEW_ARRAY(pool, bool, graph->ntensor),
               .effort = question->effort > 0 ? question->effort : default_effort};
    given_orders(&s, s.best);
    schedule->base_cost = schedule->cost_lower_bound = graph->base_cost;
    schedule->peak_lower_bound = remat_peak_bound(pool, graph);
    if (!fits(&s))
        search(&s);
    write_answer(&s);
}

bool remat_schedule(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                    RematSchedule *schedule) {
    *schedule = (RematSchedule){0};
    if (has_small_totals(problem)) {
        solve(pool, problem, question, schedule);
    } else {
        const RematOrder given = given_order(pool, problem->noperation);
        write_schedule(&given, schedule);
    }
    return schedule->peak <= question->capacity;
}
