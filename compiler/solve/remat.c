/* remat.c - the entry points of recomputation: see remat.h.
 *
 * The problem is made compact (remat_graph.c), bounded from below (remat_bound.c) and, unless the given
 * order already fits, searched (remat_search.c).
 */
#include "solve/remat_front.h"
#include "solve/remat_memo.h"
#include "base/diag.h"

#include <limits.h>
#include <string.h>

/* Of a search.  What is built to be fuzzed gives it less, and tries more files in the time. */
#ifndef REMAT_EFFORT
#define REMAT_EFFORT 200000000
#endif

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
    RematOrder order = remat_order(pool, graph);
    CHECK(length <= order.room);
    for (int i = 0; i < length; i++)
        order.operation[order.length++] = operation[i];
    return remat_measure(graph, INT64_MAX, &order) ? order.totals.peak : -1;
}

int64_t remat_cost_lower_bound(Pool *pool, const RematProblem *problem, int64_t capacity) {
    if (!has_small_totals(problem))
        return 0;
    const RematGraph *graph = remat_graph(pool, problem);
    return capacity < remat_peak_bound(pool, graph) ? INT64_MAX : remat_cost_bound(pool, graph, capacity);
}

static void fill_in_given_order(RematOrder *order, int noperation) {
    for (int o = 0; o < noperation; o++)
        order->operation[order->length++] = o;
}

static void write_schedule(const RematOrder *order, RematSchedule *schedule) {
    schedule->length = order->length;
    schedule->operation = order->operation;
    schedule->peak = order->totals.peak;
    schedule->cost = order->totals.cost;
}

static bool same_list(const int *a, const int *b, int na, int nb) {
    return na == nb && (na == 0 || memcmp(a, b, (size_t)na * sizeof *a) == 0);
}

/* Adds ORDER behind LAST, unless it is the same; returns the new last.  Two that need and cost the same are
 * packed in different ways. */
static RematSchedule *append(Pool *pool, const RematOrder *order, RematSchedule *last) {
    if (order->length == 0 || same_list(order->operation, last->operation, order->length, last->length))
        return last;
    RematSchedule *next = NEW(pool, RematSchedule);
    *next = *last;
    next->next = NULL;
    write_schedule(order, next);
    return last->next = next;
}

/* Behind LAST what needs least, and then those that need more and more; returns the new last. */
static RematSchedule *append_least(Pool *pool, const RematFront *front, RematSchedule *last) {
    last = append(pool, &front->least, last);
    for (int k = 0; k < front->count; k++)
        last = append(pool, &front->order[k], last);
    return last;
}

/* Down a front from number K on: what costs more and more, and at last, at -1, what needs least. */
typedef struct {
    const RematFront *front; /* or NULL */
    int k;
} Descent;

/* Where it stands; NULL: there is no more. */
static const RematOrder *stands_at(const Descent *d, int64_t capacity) {
    if (d->front == NULL || d->k < -1)
        return NULL;
    const bool is_known = d->k >= 0 && d->front->order[d->k].length > 0;
    const RematOrder *order = is_known ? &d->front->order[d->k] : &d->front->least;
    return order->totals.peak <= capacity ? order : NULL;
}

/* All within CAPACITY, by rising cost, from number K of the front on.  Where the cheapest cannot be packed,
 * something may that was met early and that a better one has replaced: it is among those of which a refusal
 * says how much they need.  All stand in one row by their costs, so that more memory never costs more. */
static void write_fitting(Pool *pool, const RematFront *front, int k, int64_t capacity,
                          RematSchedule *schedule) {
    Descent all = {front, k},
            early = {front->early, front->early != NULL ? remat_front_within(front->early, capacity) : -1};
    RematSchedule *last = schedule;
    write_schedule(&front->order[k], schedule);
    for (;;) {
        const RematOrder *a = stands_at(&all, capacity), *b = stands_at(&early, capacity);
        if (a == NULL && b == NULL)
            return;
        const bool first = b == NULL || (a != NULL && a->totals.cost <= b->totals.cost);
        last = append(pool, first ? a : b, last);
        (first ? &all : &early)->k--;
    }
}

/* What needs least, and behind it those that need more and more. */
static void write_least(Pool *pool, const RematFront *front, RematSchedule *schedule) {
    write_schedule(&front->least, schedule);
    RematSchedule *last = append_least(pool, front, schedule);
    if (front->early != NULL)
        append_least(pool, front->early, last);
}

/* What was found for a typical problem, as it is in this one. */
static void carry_over(Pool *pool, const RematGraph *graph, const RematQuestion *question,
                       RematFront *front) {
    const RematSchedule *s = question->memo != NULL
                                 ? remat_memo_schedules(question->memo, question->typical, question->brief)
                                 : remat_schedules(pool, question->typical, question->brief);
    RematOrder order = remat_order(pool, graph);
    for (; s != NULL; s = s->next) {
        CHECK(s->length <= order.room);
        order.length = s->length;
        memcpy(order.operation, s->operation, (size_t)s->length * sizeof *s->operation);
        CHECK(remat_measure(graph, question->capacity, &order));
        remat_front_add(front, &order);
    }
}

/* What is sought for does not depend on the capacity, which only chooses from it: so more of it never costs
 * more.  Where any schedule will do, or none can fit, the same search ends early.  Where both hold it ends
 * very early: it only has to tell about how much is needed. */
static void search(Pool *pool, const RematGraph *graph, const RematOrder *given,
                   const RematQuestion *question, RematSchedule *schedule) {
    enum { PER_MILLE = 2, GLANCE = 16, BRIEF = 4 };
    static const int64_t default_effort = REMAT_EFFORT;
    const int64_t capacity = question->capacity, least = schedule->peak_lower_bound;
    const int64_t all = question->effort > 0 ? question->effort : default_effort;
    const bool vain = capacity < least && !question->full, brief = question->brief && !vain;
    const RematAim aim = {.effort = all / (brief                   ? BRIEF
                                           : question->any && vain ? GLANCE
                                                                   : 1),
                          .enough = question->any ? capacity : 0,
                          .near = brief ? capacity : 0,
                          .brief = question->any || brief || vain};
    RematFront *front = remat_front(pool, least, given->totals.peak, PER_MILLE);
    remat_front_add(front, given);
    if (question->typical != NULL)
        carry_over(pool, graph, question, front);
    else
        schedule->effort = remat_search(pool, graph, &aim, front);
    const int found = remat_front_within(front, capacity);
    if (found >= 0)
        write_fitting(pool, front, found, capacity, schedule);
    else
        write_least(pool, front, schedule);
    if (!question->any && !question->brief && !question->full)
        schedule->cost_lower_bound = remat_cost_bound(pool, graph, found >= 0 ? capacity : schedule->peak);
}

static void solve(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                  RematSchedule *schedule) {
    const RematGraph *graph = remat_graph(pool, problem);
    RematOrder given = remat_order(pool, graph);
    fill_in_given_order(&given, graph->noperation);
    CHECK(remat_measure(graph, question->capacity, &given));
    schedule->base_cost = schedule->cost_lower_bound = graph->base_cost;
    schedule->peak_lower_bound = remat_peak_bound(pool, graph);
    if (given.totals.peak <= question->capacity)
        write_schedule(&given, schedule);
    else
        search(pool, graph, &given, question, schedule);
}

bool remat_schedule(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                    RematSchedule *schedule) {
    *schedule = (RematSchedule){0};
    if (has_small_totals(problem)) {
        solve(pool, problem, question, schedule);
    } else {
        RematOrder given = {.operation = NEW_ARRAY(pool, int, problem->noperation),
                            .totals = {.cost = INT64_MAX, .peak = INT64_MAX}};
        fill_in_given_order(&given, problem->noperation);
        write_schedule(&given, schedule);
    }
    return schedule->peak <= question->capacity;
}

const RematSchedule *remat_schedules(Pool *pool, const RematProblem *problem, bool brief) {
    const RematQuestion question = {.capacity = 1, .any = brief, .full = true};
    RematSchedule *all = NEW(pool, RematSchedule);
    remat_schedule(pool, problem, &question, all);
    return all;
}

static bool same_operations(const RematOperation *a, const RematOperation *b, bool amounts) {
    return a->repeatable == b->repeatable && a->in_place == b->in_place &&
           same_list(a->read, b->read, a->nread, b->nread) &&
           same_list(a->write, b->write, a->nwrite, b->nwrite) &&
           (!amounts || (a->cost == b->cost && a->scratch == b->scratch));
}

bool remat_alike(const RematProblem *a, const RematProblem *b, bool amounts) {
    bool alike = a->noperation == b->noperation && a->ntensor == b->ntensor;
    for (int o = 0; alike && o < a->noperation; o++)
        alike = same_operations(&a->operation[o], &b->operation[o], amounts);
    for (int t = 0; alike && t < a->ntensor; t++)
        alike = (a->kept != NULL && a->kept[t]) == (b->kept != NULL && b->kept[t]) &&
                (!amounts || a->bytes[t] == b->bytes[t]);
    return alike;
}
