/* remat_search.c - simulated annealing over sequences of operations.
 *
 * A sequence is a schedule if the first occurrence of each operation stands behind the makers of its
 * operands.  So a state of the search is a sequence, and one walk from its end (remat_measure) yields cost
 * and bytes.  States beyond the capacity are allowed at a price, which rises while the present state does
 * not fit and falls while it does: the search runs along the border.
 *
 * A run settles early on the tensors that it recomputes, and a long run does not leave its valley.  So
 * there are many short runs.  Each begins anew with room enough; then the capacity shrinks step by step to
 * the least, and grows again.  All orders met on the way go to the front, at any capacity.
 *
 * Other effort starts from the front: again and again the best order for some capacity is heated and
 * cooled.  So one run improves on the orders that other runs found for more or less room.  remat_sweep.c
 * divides the effort.
 *
 * The number of runs, temperatures and shares were chosen on the development half of the nets that
 * planner_families.py draws.  No single problem decided on any of them, nor on the random numbers.
 */
#include "solve/remat_search.h"
#include "solve/remat_moves.h"
#include "base/diag.h"

#include <math.h>
#include <string.h>

/* Temperatures are multiples of the mean cost of an operation; prices, of the cost of all per capacity. */
static const double hottest = 4, hot_again = 0.6, hot_from_front = 1, coldest = 0.00125;
static const double min_price = 0.05, max_price = 20, price_step = 1.002;
enum { MOVES_PER_TEMPERATURE = 100 };

/* A run has one round for each capacity. */
enum {
    RUNS_IN_VAIN = 6,
    PER_MILLE = 30,
    FIRST_ROUND = 3 /* times as long as another */
};

/* How many moves each start from the front has.  More starts are for small capacities, where orders are far
 * from the best: capacities are drawn by this power of a number between 0 and 1.  Most are for the smallest
 * if only the least is wanted. */
static const double to_small = 1.5, to_least = 4;
enum { MOVES_FROM_FRONT = 1500, STARTS_IN_VAIN = 100 };

/* The first run begins within so much of the least capacity; the last one where the given order fits. */
static const double least_begin = 1.3;

/* If one capacity is wanted, the search goes from so much above it to so much below it. */
static const double above_near = 1.1, below_near = 0.97;

struct RematSearch {
    RematMoves moves;
    const RematGraph *graph;
    RematFront *front;
    int64_t enough, near;
    bool least;    /* as in the aim */
    int64_t *rung; /* capacities, rising */
    int nrung;
    int64_t capacity; /* of this round */
    bool *seen;       /* room for a flag per operation */
    int *repeated;
    RematOrder now, next;
    double temperature;
    double price, unit; /* of a byte beyond the capacity, now and at first */
    int64_t effort;
    int runs_in_vain, starts_in_vain; /* in a row, which found nothing */
    int64_t changes;                  /* of the front when the last start began */
};

static void find_repeated(RematSearch *search) {
    memset(search->seen, 0, (size_t)search->graph->noperation * sizeof *search->seen);
    search->moves.nrepeated = 0;
    for (int p = 0; p < search->now.length; p++) {
        int o = search->now.operation[p];
        if (search->seen[o])
            search->repeated[search->moves.nrepeated++] = p;
        search->seen[o] = true;
    }
}

static void measure_now(RematSearch *search) {
    CHECK(remat_measure(search->graph, search->capacity, &search->now));
    find_repeated(search);
}

static bool accepted(RematSearch *search) {
    double change = (double)(search->next.totals.cost - search->now.totals.cost) +
                    search->price * (search->next.totals.excess - search->now.totals.excess);
    return change <= 0 || change <= -search->temperature * log(remat_random(&search->moves));
}

/* Tries one move. */
static void step(RematSearch *search) {
    remat_copy_operations(&search->next, &search->now);
    search->effort += search->now.length;
    search->moves.measured = &search->now;
    if (!remat_move(&search->moves, &search->next))
        return;
    search->effort += search->now.length;
    if (!remat_measure_change(search->graph, search->capacity, &search->now, &search->next) ||
        !accepted(search))
        return;
    const RematOrder last = search->now;
    search->now = search->next;
    search->next = last;
    measure_now(search);
    remat_front_add(search->front, &search->now);
}

static void adapt_price(RematSearch *search) {
    search->price *= search->now.totals.excess > 0 ? price_step : 1 / price_step;
    search->price = fmin(fmax(search->price, min_price * search->unit), max_price * search->unit);
}

static bool is_done(const RematSearch *search) {
    return search->enough > 0 && remat_front_within(search->front, search->enough) >= 0;
}

/* From the present order on, within rung K. */
static void anneal(RematSearch *search, int k, double hot, int64_t effort) {
    const double start = (double)search->effort, span = (double)effort;
    const double mean = ((double)search->graph->base_cost + 1) / (double)search->graph->noperation;
    const int64_t limit = search->effort + effort;
    search->capacity = search->rung[k];
    search->unit = ((double)search->graph->base_cost + 1) / ((double)search->capacity + 1);
    search->price = search->unit;
    measure_now(search);
    while (search->effort < limit && !is_done(search)) {
        const double part = ((double)search->effort - start) / span;
        search->temperature = mean * hot * pow(coldest / hot, part);
        for (int i = 0; i < MOVES_PER_TEMPERATURE; i++) {
            step(search);
            adapt_price(search);
        }
    }
}

/* The order of the problem; or else results that nobody reads come last. */
static void begin_anew(RematSearch *search, bool as_given) {
    const RematGraph *graph = search->graph;
    int n = graph->noperation;
    bool *is_read = search->seen;
    memset(is_read, 0, (size_t)n * sizeof *is_read);
    for (int i = 0; i < graph->node[n - 1].read_end; i++)
        is_read[graph->maker[graph->read[i]]] = true;
    search->now.length = 0;
    for (int last = 0; last < 2; last++)
        for (int o = 0; o < n; o++)
            if ((as_given || is_read[o]) == (last == 0))
                search->now.operation[search->now.length++] = o;
}

/* ---- the runs ---- */

/* The first that is no less than CAPACITY, or the last. */
static int rung_of(const RematSearch *search, double capacity) {
    int k = 0;
    while (k + 1 < search->nrung && (double)search->rung[k] < capacity)
        k++;
    return k;
}

/* The rung at which run R begins: most begin near the least capacity, where it is hard; or all a little
 * above the one that is wanted. */
static int first_rung(const RematSearch *search, int r) {
    const double part = (double)r / (REMAT_RUNS - 1), least = (double)search->rung[0] * least_begin,
                 most = (double)search->rung[search->nrung - 1];
    if (search->near > 0)
        return rung_of(search, above_near * (double)search->near);
    return rung_of(search, least < most ? least * pow(most / least, part * part * part) : most);
}

/* The one at which runs turn round. */
static int lowest_rung(const RematSearch *search) {
    return search->near > 0 ? rung_of(search, below_near * (double)search->near) : 0;
}

/* Below what nothing has come near to, there is nothing to be found. */
static int last_rung(const RematSearch *search) {
    enum { PER_CENT = 10 };
    const RematFront *front = search->front;
    const int64_t least = front->least.totals.peak;
    int k = lowest_rung(search);
    while (k + 1 < search->nrung && search->rung[k + 1] < least - least / 100 * PER_CENT)
        k++;
    return k;
}

/* Down from where run number R begins to the least, and back. */
static void run(RematSearch *search, int r, int64_t effort) {
    const int first = first_rung(search, r);
    begin_anew(search, r % 2 == 1);
    anneal(search, first, hottest, FIRST_ROUND * effort);
    int k = first;
    while (k > last_rung(search))
        anneal(search, --k, hot_again, effort);
    while (k < first)
        anneal(search, ++k, hot_again, effort);
}

/* The best order that is known for rung K becomes the present one, or that which needs least. */
static void take_best(RematSearch *search, int k) {
    const int found = remat_front_within(search->front, search->rung[k]);
    const RematKept *kept = found >= 0 ? &search->front->order[found] : &search->front->least;
    search->now.length = kept->length;
    memcpy(search->now.operation, kept->sequence->operation,
           (size_t)kept->length * sizeof *search->now.operation);
}

int64_t remat_search_start(int length) {
    return (int64_t)MOVES_FROM_FRONT * 2 * length;
}

/* The least rung at which little is computed again, or the last one. */
static int cheap_rung(const RematSearch *search) {
    enum { PART = 50 };
    const int64_t base = search->graph->base_cost;
    int k = search->nrung - 1;
    while (k > 0) {
        const int found = remat_front_within(search->front, search->rung[k - 1]);
        if (found < 0 || search->front->order[found].totals.cost - base > base / PART)
            break;
        k--;
    }
    return k;
}

/* Start number I looks near a small capacity.  If CHEAPLY, every other start looks near a capacity at which
 * little is computed again. */
static int rung_to_improve(RematSearch *search, int lowest, bool cheaply, int i) {
    const double part = 1 - remat_random(&search->moves);
    const int cheap = cheap_rung(search), from = cheap > lowest ? cheap - 1 : lowest;
    if (cheaply && i % 2 == 0)
        return from + (int)(part * (search->nrung - from));
    return lowest + (int)(pow(part, search->least ? to_least : to_small) * (search->nrung - lowest));
}

/* Have many starts in a row changed nothing? */
static bool improves_in_vain(RematSearch *search) {
    if (search->front->changes != search->changes)
        search->starts_in_vain = 0;
    search->changes = search->front->changes;
    return search->starts_in_vain == STARTS_IN_VAIN;
}

void remat_search_improve(RematSearch *search, int64_t effort, bool cheaply) {
    const int lowest = last_rung(search);
    const int64_t limit = search->effort + effort;
    for (int i = 0; search->effort < limit && !is_done(search) && !improves_in_vain(search); i++) {
        const int64_t left = limit - search->effort;
        const int k = rung_to_improve(search, lowest, cheaply, i);
        take_best(search, k);
        const int64_t start = remat_search_start(search->now.length);
        anneal(search, k, hot_from_front, start < left ? start : left);
        search->starts_in_vain++;
    }
}

void remat_search_descend(RematSearch *search, int64_t effort) {
    int k = search->nrung - 1;
    const int64_t each = effort / (FIRST_ROUND + search->nrung);
    begin_anew(search, false);
    anneal(search, k, hottest, FIRST_ROUND * each);
    while (k > last_rung(search))
        anneal(search, --k, hot_again, each);
}

void remat_search_run(RematSearch *search, int r, int64_t effort) {
    if (search->runs_in_vain >= RUNS_IN_VAIN || is_done(search))
        return;
    const int64_t changes = search->front->changes;
    run(search, r, effort);
    search->runs_in_vain = search->front->changes == changes ? search->runs_in_vain + 1 : 0;
}

int64_t remat_search_rounds(const RematSearch *search, int begin, int end) {
    int64_t rounds = 0;
    for (int r = begin; r < end; r++)
        rounds += FIRST_ROUND + 2 * (first_rung(search, r) - lowest_rung(search));
    return rounds;
}

int64_t remat_search_effort(const RematSearch *search) {
    return search->effort;
}

RematSearch *remat_search_new(Pool *pool, const RematGraph *graph, const RematAim *aim, RematFront *front,
                              int number) {
    const RematFront *rungs = remat_front(pool, front->limit[0], front->limit[front->count - 1], PER_MILLE);
    RematSearch *search = NEW(pool, RematSearch);
    *search = (RematSearch){.moves = {.graph = graph,
                                      .random = (uint64_t)number << 32,
                                      .needed = NEW_ARRAY(pool, bool, graph->ntensor),
                                      .marked = NEW_ARRAY(pool, bool, graph->noperation)},
                            .graph = graph,
                            .front = front,
                            .enough = aim->enough,
                            .near = aim->near,
                            .least = aim->least,
                            .rung = rungs->limit,
                            .nrung = rungs->count,
                            .seen = NEW_ARRAY(pool, bool, graph->noperation),
                            .repeated = NEW_ARRAY(pool, int, graph->noperation *REMAT_MAX_REPEATS),
                            .now = remat_order(pool, graph),
                            .next = remat_order(pool, graph)};
    search->moves.repeated = search->repeated;
    return search;
}
