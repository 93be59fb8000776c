/* remat_search.c - simulated annealing over sequences of operations.
 *
 * Any sequence in which the first occurrence of an operation stands behind those of the makers of what it
 * reads is a schedule, so a state of the search is just that sequence; one walk from its end
 * (remat_measure) yields its cost and bytes.  States beyond the capacity are allowed at a price, which
 * rises while the present state does not fit and falls while it does: the search runs along the border.
 *
 * Half of the rounds begin anew from the given order, since which tensors are recomputed is settled early
 * in each; the others from the best so far.  Some go for less than the capacity: that leads elsewhere, and
 * what is best for less may be best for all of it.
 */
#include "solve/remat_moves.h"
#include "base/diag.h"

#include <math.h>
#include <string.h>

/* Temperatures are multiples of the mean cost of an operation; prices, of the cost of all per capacity. */
static const double hottest = 4, hot_again = 0.8, coldest = 0.00125;
static const double min_price = 0.05, max_price = 20, price_step = 1.002;
enum { ROUNDS = 20, MAX_IN_VAIN = 4, MOVES_PER_TEMPERATURE = 100 };

typedef struct {
    RematMoves moves;
    const RematGraph *graph;
    RematGoal goal;
    int64_t capacity;   /* of this round */
    bool *alive, *seen; /* room for a flag per tensor, per operation */
    int *repeated;
    RematOrder now, next;
    RematOrder *best; /* for each share of the capacity */
    double temperature;
    double price, unit; /* of a byte beyond the capacity, now and at first */
    int64_t effort;
} Search;

static void copy_order(RematOrder *to, const RematOrder *from) {
    int *operation = to->operation;
    memcpy(operation, from->operation, (size_t)from->length * sizeof *operation);
    *to = *from;
    to->operation = operation;
}

static void find_repeated(Search *search) {
    memset(search->seen, 0, (size_t)search->graph->noperation * sizeof *search->seen);
    search->moves.nrepeated = 0;
    for (int p = 0; p < search->now.length; p++) {
        int o = search->now.operation[p];
        if (search->seen[o])
            search->repeated[search->moves.nrepeated++] = p;
        search->seen[o] = true;
    }
}

int64_t remat_share(int64_t capacity, int share) {
    static const double shares[REMAT_SHARES] = {1, 0.998, 0.995, 0.99, 0.98, 0.97, 0.95};
    return (int64_t)((double)capacity * shares[share]);
}

/* A schedule that fits beats one that does not; then the cheaper, or else the one of lower peak. */
static bool better(const RematOrder *a, const RematOrder *b, int64_t capacity) {
    bool fits = a->peak <= capacity, other_fits = b->peak <= capacity;
    if (fits != other_fits)
        return fits;
    if (fits && a->cost != b->cost)
        return a->cost < b->cost;
    return a->peak < b->peak || (a->peak == b->peak && a->cost < b->cost);
}

static bool accepted(Search *search) {
    double change = (double)(search->next.cost - search->now.cost) +
                    search->price * (search->next.excess - search->now.excess);
    return change <= 0 || change <= -search->temperature * log(remat_random(&search->moves));
}

/* Keeps the former best orders behind the one of minimum peak: packed, one of them may need less. */
static void keep_min_peak(Search *search) {
    enum { PARTS = 1000 };
    RematOrder *best = search->best, last = best[REMAT_SHARES - 1];
    if (!better(&search->now, best, 0))
        return;
    if (search->now.peak < best->peak - best->peak / PARTS) {
        memmove(best + 1, best, (REMAT_SHARES - 1) * sizeof *best);
        *best = last;
    }
    copy_order(best, &search->now);
}

static void keep_best(Search *search) {
    if (search->goal.kind == REMAT_MIN_PEAK) {
        keep_min_peak(search);
        return;
    }
    for (int k = 0; k < REMAT_SHARES; k++)
        if (better(&search->now, &search->best[k], remat_share(search->goal.capacity, k)))
            copy_order(&search->best[k], &search->now);
}

/* Tries one move. */
static void step(Search *search) {
    copy_order(&search->next, &search->now);
    search->effort += search->now.length;
    if (!remat_move(&search->moves, &search->next))
        return;
    search->effort += search->now.length;
    if (!remat_measure(search->graph, search->capacity, search->alive, &search->next) || !accepted(search))
        return;
    RematOrder last = search->now;
    search->now = search->next;
    search->next = last;
    find_repeated(search);
    keep_best(search);
}

static void adapt_price(Search *search) {
    search->price *= search->now.excess > 0 ? price_step : 1 / price_step;
    search->price = fmin(fmax(search->price, min_price * search->unit), max_price * search->unit);
}

static bool is_done(const Search *search) {
    const RematGoal *goal = &search->goal;
    if (goal->kind == REMAT_MIN_PEAK)
        return search->best->peak <= goal->enough;
    return search->best->peak <= goal->capacity &&
           (goal->kind == REMAT_FIRST || search->best->cost <= goal->cost_bound);
}

static void anneal(Search *search, double hot, int64_t limit) {
    double start = (double)search->effort, span = (double)limit - start;
    double mean = ((double)search->graph->base_cost + 1) / (double)search->graph->noperation;
    while (search->effort < limit && !is_done(search)) {
        double part = ((double)search->effort - start) / span;
        search->temperature = mean * hot * pow(coldest / hot, part);
        for (int i = 0; i < MOVES_PER_TEMPERATURE; i++) {
            step(search);
            adapt_price(search);
        }
    }
}

static void postpone_results(Search *search) {
    const RematGraph *graph = search->graph;
    int n = graph->noperation;
    bool *is_read = search->seen;
    memset(is_read, 0, (size_t)n * sizeof *is_read);
    for (int i = 0; i < graph->node[n - 1].read_end; i++)
        is_read[graph->maker[graph->read[i]]] = true;
    search->now.length = 0;
    for (int last = 0; last < 2; last++)
        for (int o = 0; o < n; o++)
            if (is_read[o] == (last == 0))
                search->now.operation[search->now.length++] = o;
}

static void begin_round(Search *search, int round) {
    enum { AIMS = 4 };
    static const int aimed_at[AIMS] = {0, 2, 4, 5};
    const RematGoal *goal = &search->goal;
    if (round > ROUNDS / 2)
        copy_order(&search->now, search->best);
    else if (round > 1)
        postpone_results(search);
    search->capacity = goal->kind == REMAT_MIN_PEAK
                           ? goal->capacity
                           : remat_share(goal->capacity, aimed_at[(round - 1) % AIMS]);
    CHECK(remat_measure(search->graph, search->capacity, search->alive, &search->now));
    find_repeated(search);
    search->price = search->unit;
}

int64_t remat_search(Pool *pool, const RematGraph *graph, const RematGoal *goal,
                     RematOrder best[REMAT_SHARES]) {
    Search search = {.moves = {.graph = graph, .random = 1},
                     .graph = graph,
                     .goal = *goal,
                     .alive = NEW_ARRAY(pool, bool, graph->ntensor),
                     .seen = NEW_ARRAY(pool, bool, graph->noperation),
                     .repeated = NEW_ARRAY(pool, int, graph->noperation *REMAT_MAX_REPEATS),
                     .now = remat_order(pool, graph->noperation),
                     .next = remat_order(pool, graph->noperation),
                     .unit = ((double)graph->base_cost + 1) / ((double)goal->capacity + 1),
                     .best = best};
    search.moves.repeated = search.repeated;
    copy_order(&search.now, best);
    for (int round = 1, in_vain = 0; round <= ROUNDS && in_vain < MAX_IN_VAIN && !is_done(&search);
         round++) {
        const int64_t cost = best->cost, peak = best->peak;
        begin_round(&search, round);
        anneal(&search, round > ROUNDS / 2 ? hot_again : hottest, goal->effort / ROUNDS * round);
        bool counts = round > ROUNDS / 2 && (best->peak <= goal->capacity || goal->kind == REMAT_MIN_PEAK);
        in_vain = counts && best->cost == cost && best->peak == peak ? in_vain + 1 : 0;
    }
    return search.effort;
}
