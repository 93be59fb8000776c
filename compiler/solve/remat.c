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

/* The default effort.  A compiler that is built for a fuzzer has less, so that it tries more files. */
#ifndef REMAT_EFFORT
#define REMAT_EFFORT 800000000
#endif

static bool add_total(int64_t *total, int64_t amount) {
    return amount >= 0 && !__builtin_add_overflow(*total, amount, total) && *total <= REMAT_MAX_TOTAL;
}

/* Returns whether no sum of the search can overflow. */
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

static const int *given_order(Pool *pool, int noperation) {
    int *operation = NEW_ARRAY(pool, int, noperation);
    for (int o = 0; o < noperation; o++)
        operation[o] = o;
    return operation;
}

static void write_schedule(const int *operation, int length, const RematTotals *totals,
                           RematSchedule *schedule) {
    schedule->length = length;
    schedule->operation = operation;
    schedule->peak = totals->peak;
    schedule->cost = totals->cost;
}

static void write_kept(const RematKept *kept, RematSchedule *schedule) {
    write_schedule(kept->sequence->operation, kept->length, &kept->totals, schedule);
}

static bool same_list(const int *a, const int *b, int na, int nb) {
    return na == nb && (na == 0 || memcmp(a, b, (size_t)na * sizeof *a) == 0);
}

/* Adds KEPT behind LAST, unless it is the same order; returns the new last.  Two orders that need the same
 * bytes at the same cost are both added, for packing may place their buffers differently. */
static RematSchedule *append(Pool *pool, const RematKept *kept, RematSchedule *last) {
    if (kept->length == 0 ||
        same_list(kept->sequence->operation, last->operation, kept->length, last->length))
        return last;
    RematSchedule *next = NEW(pool, RematSchedule);
    *next = *last;
    next->next = next->beyond = NULL;
    write_kept(kept, next);
    return last->next = next;
}

/* Appends the order that needs least to LAST, then orders that need more and more; returns the new last. */
static RematSchedule *append_least(Pool *pool, const RematFront *front, RematSchedule *last) {
    last = append(pool, &front->least, last);
    for (int k = 0; k < front->count; k++)
        last = append(pool, &front->order[k], last);
    return last;
}

/* A walk down a front from number K: orders that cost more and more, and at -1 the order that needs least.
 */
typedef struct {
    const RematFront *front;
    int k;
} Descent;

/* Returns the order at which the walk D stands; NULL: the walk has ended. */
static const RematKept *stands_at(const Descent *d, int64_t capacity) {
    if (d->k < -1)
        return NULL;
    const bool is_known = d->k >= 0 && d->front->order[d->k].length > 0;
    const RematKept *order = is_known ? &d->front->order[d->k] : &d->front->least;
    return order->totals.peak <= capacity ? order : NULL;
}

/* Returns the cheapest order at which one of DESCENT[0..COUNT) stands, and moves that walk on; NULL: all
 * have ended. */
static const RematKept *cheapest(Descent *descent, int count, int64_t capacity) {
    const RematKept *best = NULL;
    int of = 0;
    for (int i = 0; i < count; i++) {
        const RematKept *order = stands_at(&descent[i], capacity);
        if (order != NULL && (best == NULL || order->totals.cost < best->totals.cost))
            best = order, of = i;
    }
    if (best != NULL)
        descent[of].k--;
    return best;
}

/* Writes all orders within CAPACITY by rising cost, from number K of the front on.  If the cheapest order
 * cannot be packed, an order that was met early may be packed, though a better one has replaced it since. A
 * refusal counts such orders, too.  All are in one row by their costs, so that more memory never costs
 * more. */
static void write_fitting(Pool *pool, const RematFront *front, int k, int64_t capacity,
                          RematSchedule *schedule) {
    Descent *descent = NULL;
    int count = 0;
    PUSH(pool, descent, count, ((Descent){front, k}));
    for (const RematFront *f = front->early; f != NULL; f = f->early)
        PUSH(pool, descent, count, ((Descent){f, remat_front_within(f, capacity)}));
    RematSchedule *last = schedule;
    write_kept(&front->order[k], schedule);
    for (const RematKept *kept; (kept = cheapest(descent, count, capacity)) != NULL;)
        last = append(pool, kept, last);
}

/* Writes the schedules behind number K, which need more bytes and cost less.  Bytes are counted before
 * buffers have their places, so a schedule that seems to need a little too much may fit. */
static void write_beyond(Pool *pool, const RematFront *front, int k, RematSchedule *schedule) {
    RematSchedule row = *schedule, *last = &row;
    row.next = row.beyond = NULL;
    for (k++; k < front->count; k++)
        last = append(pool, &front->order[k], last);
    schedule->beyond = row.next;
}

/* Writes the order that needs least, then orders that need more and more. */
static void write_least(Pool *pool, const RematFront *front, RematSchedule *schedule) {
    write_kept(&front->least, schedule);
    RematSchedule *last = schedule;
    for (const RematFront *f = front; f != NULL; f = f->early)
        last = append_least(pool, f, last);
}

/* Returns a row of schedules of the typical problem, which serves QUESTION of PROBLEM. */
static const RematSchedule *typical_schedules(Pool *pool, const RematProblem *problem,
                                              const RematQuestion *question) {
    if (question->memo != NULL)
        return remat_memo_schedules(question->memo, question->typical, question->brief, question->times);
    const RematQuestion typical = {.capacity = 1,
                                   .of_use = question->capacity,
                                   .serves = problem,
                                   .times = question->times,
                                   .any = question->brief,
                                   .full = true};
    RematSchedule *all = NEW(pool, RematSchedule);
    remat_schedule(pool, question->typical, &typical, all);
    return all;
}

/* Measures the schedules of the typical problem in this problem, and hands them to FRONT. */
static void carry_over(Pool *pool, const RematProblem *problem, const RematGraph *graph,
                       const RematQuestion *question, RematFront *front) {
    const RematSchedule *s = typical_schedules(pool, problem, question);
    RematOrder order = remat_order(pool, graph);
    for (; s != NULL; s = s->next) {
        CHECK(s->length <= order.room);
        order.length = s->length;
        memcpy(order.operation, s->operation, (size_t)s->length * sizeof *s->operation);
        CHECK(remat_measure(graph, question->capacity, &order));
        remat_front_add(front, &order);
    }
}

/* Returns whether CAPACITY is well below LEAST, the fewest bytes that are known to do. */
static bool in_vain(int64_t capacity, int64_t least) {
    enum { PER_CENT = 15 };
    return capacity < least - least / (100 + PER_CENT) * PER_CENT;
}

/* Returns whether the capacity is well below the bytes of every order that was MET: the capacity of the
 * problem that the answer serves, in which the order of the least bytes is measured, too. */
static bool is_vain(Pool *pool, const RematQuestion *question, const RematFront *met) {
    const RematKept *least = &met->least;
    if (!question->full)
        return in_vain(question->capacity, least->totals.peak);
    return question->serves != NULL &&
           in_vain(question->of_use,
                   remat_peak(pool, question->serves, least->sequence->operation, least->length));
}

/* Returns whether a long search is worth its time after the first run, which has MET these orders. */
static bool searches_on(const RematQuestion *question, const RematFront *met, bool vain) {
    if (question->any)
        return !vain && !question->full && remat_front_within(met, question->capacity) < 0;
    return question->full || !vain || question->of_use <= 0 ||
           !in_vain(question->of_use, met->least.totals.peak);
}

/* Adds the orders of OTHER, which were met earlier, to FRONT. */
static void add_front(RematFront *front, RematFront *other) {
    RematFront **early = &front->early;
    while (*early != NULL)
        early = &(*early)->early;
    *early = other;
    remat_front_add_kept(front, &other->least);
    for (int k = 0; k < other->count; k++)
        if (other->order[k].length > 0)
            remat_front_add_kept(front, &other->order[k]);
}

/* Returns the effort of a search.  A small problem has few orders, so its search is shorter, below 40
 * operations. */
static int64_t effort_of(const RematQuestion *question, int noperation) {
    static const int64_t default_effort = REMAT_EFFORT, for_pair = 500000;
    const int64_t asked = question->effort > 0 ? question->effort : default_effort,
                  most = for_pair * noperation * noperation;
    return (question->times > 0 ? question->times : 1) * (asked < most ? asked : most);
}

/* Fills FRONT.  The first run goes from the capacity of the given order down to the least that it reaches.
 * A capacity well below that is hopeless: the search only looks for what needs least then, to tell how much
 * that is, or there is none if a plan is known that needs much less.  Else many more runs follow.  They do
 * not depend on the capacity, which only chooses among the orders that they find, so more memory never
 * costs more.  If any schedule will do, or the question is brief, the search is brief and stays near the
 * capacity. */
static void search_front(Pool *pool, const RematGraph *graph, const RematQuestion *question,
                         RematFront *front, RematSchedule *schedule) {
    enum { DESCENT = 16, BRIEF = 16, ANY = 32 };
    const int64_t all = effort_of(question, graph->noperation);
    const bool near = (question->any || question->brief) && !question->full;
    const int64_t enough = question->any ? question->capacity : 0;
    const RematAim down = {.effort = all / (near ? ANY : DESCENT),
                           .enough = enough,
                           .descends = true,
                           .cheaply = question->any && question->full};
    RematFront *met = remat_front_copy(front);
    schedule->effort = remat_search(pool, graph, &down, met);
    const bool vain = is_vain(pool, question, met);
    if (searches_on(question, met, vain)) {
        const RematAim aim = {.effort = question->any     ? all / ANY
                                        : question->brief ? all / BRIEF
                                                          : all,
                              .enough = enough,
                              .near = near && !vain ? question->capacity : 0,
                              .brief = near,
                              .least = vain && !near};
        schedule->effort += remat_search(pool, graph, &aim, front);
    }
    add_front(front, met);
}

/* Returns whether no order in FRONT is within the capacity, but one is not far above it. */
static bool nearly_fits(const RematQuestion *question, const RematFront *front) {
    return remat_front_within(front, question->capacity) < 0 &&
           !in_vain(question->capacity, front->least.totals.peak);
}

static void search(Pool *pool, Pool *scratch, const RematProblem *problem, const RematGraph *graph,
                   const RematOrder *given, const RematQuestion *question, RematSchedule *schedule) {
    enum { PER_MILLE = 2 };
    const int64_t capacity = question->capacity;
    RematFront *front = remat_front(pool, schedule->peak_lower_bound, given->totals.peak, PER_MILLE);
    remat_front_add(front, given);
    if (question->typical != NULL)
        carry_over(scratch, problem, graph, question, front);
    if (question->typical == NULL || (question->closely && nearly_fits(question, front)))
        search_front(scratch, graph, question, front, schedule);
    const int found = remat_front_within(front, capacity);
    if (found >= 0) {
        write_fitting(pool, front, found, capacity, schedule);
        write_beyond(pool, front, found, schedule);
    } else {
        write_least(pool, front, schedule);
    }
    if (!question->any && !question->brief && !question->full)
        schedule->cost_lower_bound =
            remat_cost_bound(scratch, graph, found >= 0 ? capacity : schedule->peak);
}

/* SCRATCH is given back when the problem is solved. */
static void solve(Pool *pool, Pool *scratch, const RematProblem *problem, const RematQuestion *question,
                  RematSchedule *schedule) {
    const RematGraph *graph = remat_graph(scratch, problem);
    RematOrder given = remat_order(scratch, graph);
    given.length = graph->noperation;
    memcpy(given.operation, schedule->operation, (size_t)given.length * sizeof *given.operation);
    CHECK(remat_measure(graph, question->capacity, &given));
    schedule->base_cost = schedule->cost_lower_bound = graph->base_cost;
    schedule->peak_lower_bound = remat_peak_bound(scratch, graph);
    if (given.totals.peak <= question->capacity)
        write_schedule(schedule->operation, given.length, &given.totals, schedule);
    else
        search(pool, scratch, problem, graph, &given, question, schedule);
}

bool remat_schedule(Pool *pool, const RematProblem *problem, const RematQuestion *question,
                    RematSchedule *schedule) {
    const RematTotals too_large = {.cost = INT64_MAX, .peak = INT64_MAX};
    *schedule = (RematSchedule){0};
    write_schedule(given_order(pool, problem->noperation), problem->noperation, &too_large, schedule);
    if (has_small_totals(problem)) {
        Pool *scratch = pool_part(pool);
        solve(pool, scratch, problem, question, schedule);
        pool_free(scratch);
    }
    return schedule->peak <= question->capacity;
}

static void *copied(Pool *pool, const void *array, int count, size_t size) {
    void *copy = pool_array(pool, (size_t)count, size);
    if (count > 0)
        memcpy(copy, array, (size_t)count * size);
    return copy;
}

RematProblem *remat_problem_copy(Pool *pool, const RematProblem *problem) {
    RematProblem *copy = copied(pool, problem, 1, sizeof *problem);
    RematOperation *operation =
        copied(pool, problem->operation, problem->noperation, sizeof *problem->operation);
    for (int o = 0; o < problem->noperation; o++) {
        operation[o].read = copied(pool, operation[o].read, operation[o].nread, sizeof(int));
        operation[o].write = copied(pool, operation[o].write, operation[o].nwrite, sizeof(int));
        operation[o].name = "";
    }
    copy->operation = operation;
    copy->bytes = copied(pool, problem->bytes, problem->ntensor, sizeof *problem->bytes);
    if (problem->kept != NULL)
        copy->kept = copied(pool, problem->kept, problem->ntensor, sizeof *problem->kept);
    return copy;
}

RematSchedule *remat_schedule_copy(Pool *pool, const RematSchedule *schedule) {
    RematSchedule *copy = copied(pool, schedule, 1, sizeof *schedule);
    copy->operation = copied(pool, schedule->operation, schedule->length, sizeof *schedule->operation);
    copy->next = NULL;
    return copy;
}

const RematSchedule *remat_schedules(Pool *pool, const RematProblem *problem, bool brief, int64_t times) {
    const RematQuestion question = {.capacity = 1, .times = times, .any = brief, .full = true};
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
