/* remat_search.c - simulated annealing over sequences of operations.
 *
 * Any sequence in which each operation's first occurrence stands behind those of the makers of what it reads is a
 * schedule, so the search needs no other representation: a state is the sequence, a move inserts, removes or
 * shifts occurrences, and one walk from the end (remat_measure) yields cost and bytes.  An occurrence that no one
 * reads any more after a move is dropped by that walk.  Moves:
 *   - recompute: insert the maker of what an operation reads right before it, where the tensor has lain idle; what
 *     that maker reads is, if dead, kept until there or recomputed in its turn (a coin);
 *   - forget: remove a repeated occurrence, so that its readers read the life before;
 *   - exchange: one of each;
 *   - shift: move an occurrence elsewhere, which reorders the schedule.
 * States beyond the capacity are allowed at a price that follows the search: it rises while the state does not fit
 * and falls while it does, so that the search runs along the border.
 */
#include "remat_graph.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    Pool *pool;
    const RematGraph *graph;
    int64_t capacity;
    uint64_t random;
    bool *alive;
    int *repeated; /* positions of repeated occurrences in `now` */
    int nrepeated;
    bool *seen; /* per operation: scratch memory */
    RematOrder now, next;
    RematOrder *best;
    double price; /* of a byte of excess */
    int64_t effort, limit;
} Search;

static int M[5];
static uint64_t random_bits(Search *search) { /* splitmix64 */
    uint64_t z = search->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int random_below(Search *search, int end) {
    return (int)(((random_bits(search) >> 32) * (uint64_t)end) >> 32);
}

static double random_unit(Search *search) {
    return (double)((random_bits(search) >> 11) + 1) * 0x1p-53;
}

static void copy_order(RematOrder *to, const RematOrder *from) {
    int *operation = to->operation;
    memcpy(operation, from->operation, (size_t)from->length * sizeof *operation);
    *to = *from;
    to->operation = operation;
}

static bool reads(const RematGraph *graph, int o, int tensor) {
    const RematNode *node = &graph->node[o];
    for (int i = node[-1].read_end; i < node->read_end; i++)
        if (graph->read[i] == tensor)
            return true;
    return false;
}

static void insert_at(RematOrder *order, int position, int o) {
    int *place = order->operation + position;
    memmove(place + 1, place, (size_t)(order->length - position) * sizeof *place);
    *place = o;
    order->length++;
}

static void remove_at(RematOrder *order, int position) {
    int *place = order->operation + position;
    order->length--;
    memmove(place, place + 1, (size_t)(order->length - position) * sizeof *place);
}

/* Is TENSOR read at POSITION or later, before it is written again? */
static bool needed_from(const Search *search, int position, int tensor) {
    int maker = search->graph->maker[tensor];
    if (search->graph->is_kept[tensor])
        return true;
    for (int p = position; p < search->next.length && search->next.operation[p] != maker; p++)
        if (reads(search->graph, search->next.operation[p], tensor))
            return true;
    return false;
}

/* Inserts the maker of TENSOR before POSITION, and before it some of those of what it reads.  Returns the number of
 * operations inserted. */
static int recompute_at(Search *search, int position, int tensor) {
    const RematGraph *graph = search->graph;
    int maker = graph->maker[tensor], inserted = 0;
    const RematNode *node = &graph->node[maker];
    if (!node->repeatable || search->next.length >= graph->noperation * REMAT_MOST_REPEATS)
        return 0;
    for (int i = node[-1].read_end; i < node->read_end; i++)
        if (random_below(search, 4) != 0 && !needed_from(search, position + inserted, graph->read[i]))
            inserted += recompute_at(search, position + inserted, graph->read[i]);
    if (search->next.length >= graph->noperation * REMAT_MOST_REPEATS)
        return inserted;
    insert_at(&search->next, position + inserted, maker);
    return inserted + 1;
}

static bool recompute(Search *search) {
    const RematGraph *graph = search->graph;
    int position = random_below(search, search->next.length);
    const RematNode *node = &graph->node[search->next.operation[position]];
    int nread = node->read_end - node[-1].read_end;
    if (nread == 0)
        return false;
    int tensor = graph->read[node[-1].read_end + random_below(search, nread)];
    if (position == 0 || search->next.operation[position - 1] == graph->maker[tensor])
        return false;
    return recompute_at(search, position, tensor) > 0;
}

static bool forget(Search *search) {
    if (search->nrepeated == 0)
        return false;
    remove_at(&search->next, search->repeated[random_below(search, search->nrepeated)]);
    return true;
}

static bool shift(Search *search) {
    int from = random_below(search, search->next.length), to;
    int o = search->next.operation[from];
    if (random_below(search, 2) == 0) {
        int reach = 1 + random_below(search, 12);
        to = from + (random_below(search, 2) == 0 ? reach : -reach);
        if (to < 0 || to >= search->next.length)
            return false;
    } else
        to = random_below(search, search->next.length);
    if (from == to)
        return false;
    remove_at(&search->next, from);
    insert_at(&search->next, to, o);
    return true;
}

static bool reads_output(const RematGraph *graph, int o, int maker) {
    const RematNode *node = &graph->node[o];
    for (int i = node[-1].read_end; i < node->read_end; i++)
        if (graph->maker[graph->read[i]] == maker)
            return true;
    return false;
}

/* Joins a life with the one before: its readers move there. */
static bool gather_early(Search *search, int later) {
    const RematGraph *graph = search->graph;
    RematOrder *next = &search->next;
    int maker = next->operation[later], to = later - 1;
    while (to >= 0 && next->operation[to] != maker && !reads_output(graph, next->operation[to], maker))
        to--;
    remove_at(next, later);
    for (int p = later; p < next->length && next->operation[p] != maker; p++) {
        int o = next->operation[p];
        if (!reads_output(graph, o, maker))
            continue;
        remove_at(next, p);
        insert_at(next, ++to, o);
    }
    return true;
}

/* Joins a life with the next: its readers move there. */
static bool gather_late(Search *search, int later) {
    const RematGraph *graph = search->graph;
    RematOrder *next = &search->next;
    int maker = next->operation[later], to = later;
    for (int p = later - 1; p >= 0; p--) {
        int o = next->operation[p];
        if (o != maker && !reads_output(graph, o, maker))
            continue;
        remove_at(next, p);
        to--;
        if (o == maker)
            return true;
        insert_at(next, to + 1, o);
    }
    return false;
}

static bool gather(Search *search) {
    if (search->nrepeated == 0)
        return false;
    int later = search->repeated[random_below(search, search->nrepeated)];
    return random_below(search, 2) == 0 ? gather_early(search, later) : gather_late(search, later);
}

/* Moves an operation next to another that touches a tensor it reads. */
static bool meet(Search *search) {
    const RematGraph *graph = search->graph;
    RematOrder *next = &search->next;
    int from = random_below(search, next->length), o = next->operation[from];
    const RematNode *node = &graph->node[o];
    int nread = node->read_end - node[-1].read_end;
    if (nread == 0)
        return false;
    int tensor = graph->read[node[-1].read_end + random_below(search, nread)], count = 0, to = 0;
    for (int p = 0; p < next->length; p++)
        if (p != from && (next->operation[p] == graph->maker[tensor] || reads(graph, next->operation[p], tensor)))
            if (random_below(search, ++count) == 0)
                to = p;
    if (count == 0)
        return false;
    remove_at(next, from);
    if (to > from)
        to--;
    if (next->operation[to] == graph->maker[tensor] || random_below(search, 2) == 0)
        to++;
    if (to == from)
        return false;
    insert_at(next, to, o);
    return true;
}

static double P(const char *n, double d);
static bool move(Search *search) {
    copy_order(&search->next, &search->now);
    int kind = random_below(search, 100);
    if (kind < M[0])
        return recompute(search);
    if (kind < M[1])
        return forget(search);
    if (kind < M[2])
        return forget(search) && recompute(search);
    if (kind < M[3])
        return gather(search);
    if (kind < M[4])
        return meet(search);
    return shift(search);
}

static void find_repeated(Search *search) {
    memset(search->seen, 0, (size_t)search->graph->noperation * sizeof *search->seen);
    search->nrepeated = 0;
    for (int p = 0; p < search->now.length; p++) {
        int o = search->now.operation[p];
        if (search->seen[o])
            search->repeated[search->nrepeated++] = p;
        search->seen[o] = true;
    }
}

static double energy(const Search *search, const RematOrder *order) {
    return (double)order->cost + search->price * order->excess;
}

/* A schedule that fits beats one that does not; then the cheaper, or else the lower one. */
static bool better(const RematOrder *a, const RematOrder *b, int64_t capacity) {
    bool fits = a->peak <= capacity, other_fits = b->peak <= capacity;
    if (fits != other_fits)
        return fits;
    if (fits && a->cost != b->cost)
        return a->cost < b->cost;
    return a->peak < b->peak || (a->peak == b->peak && a->cost < b->cost);
}

static void step(Search *search, double temperature) {
    search->effort += search->now.length;
    if (!move(search))
        return;
    search->effort += search->now.length;
    if (!remat_measure(search->graph, search->capacity, search->alive, &search->next))
        return;
    double change = energy(search, &search->next) - energy(search, &search->now);
    if (change > 0 && (double)change > -temperature * log(random_unit(search)))
        return;
    RematOrder last = search->now;
    search->now = search->next;
    search->next = last;
    find_repeated(search);
    if (better(&search->now, search->best, search->capacity))
        copy_order(search->best, &search->now);
}

static double P(const char *n, double d) { return getenv(n) ? atof(getenv(n)) : d; }
static void anneal(Search *search, double hot, double cold, int64_t limit) {
    double base = (double)search->graph->base_cost;
    double start = (double)search->effort, span = (double)limit - start;
    double factor = P("PF", 1.0005), hi = P("PHI", 4) * base / (double)search->capacity,
           lo = P("PLO", 0.05) * base / (double)search->capacity;
    while (search->effort < limit) {
        double part = ((double)search->effort - start) / span;
        double temperature = base * hot * pow(cold / hot, part);
        for (int i = 0; i < 100; i++) {
            step(search, temperature);
            if (search->now.excess > 0)
                search->price *= factor;
            else
                search->price /= factor;
            if (search->price < lo)
                search->price = lo;
            if (search->price > hi)
                search->price = hi;
        }
    }
}

int64_t remat_search(Pool *pool, const RematGraph *graph, int64_t capacity, int64_t cost_bound, int64_t effort,
                     RematOrder *best) {
    Search search = {.pool = pool,
                     .graph = graph,
                     .capacity = capacity,
                     .random = (uint64_t)P("SEED", 1)*12345,
                     .alive = NEW_ARRAY(pool, bool, graph->ntensor),
                     .repeated = NEW_ARRAY(pool, int, graph->noperation *REMAT_MOST_REPEATS),
                     .seen = NEW_ARRAY(pool, bool, graph->noperation),
                     .now = remat_order(pool, graph),
                     .next = remat_order(pool, graph),
                     .best = best,
                     .limit = effort};
    (void)cost_bound;
    const char *m = getenv("M");
    sscanf(m ? m : "30 50 65 75 85", "%d %d %d %d %d", M, M+1, M+2, M+3, M+4);
    int rounds = (int)P("ROUNDS", 4);
    RematOrder start = remat_order(pool, graph);
    copy_order(&start, best);
    for (int r = 0; r < rounds; r++) {
        copy_order(&search.now, P("FROMBEST", 0) > 0 ? best : &start);
        find_repeated(&search);
        search.price = (double)graph->base_cost / (double)capacity;
        anneal(&search, P("HOT", 0.02), P("COLD", 0.00002), effort * (r + 1) / rounds);
        if (getenv("V"))
            fprintf(stderr, "round %d best %lld peak %lld  (%.4f)\n", r, (long long)best->cost, (long long)best->peak, (double)best->cost/(double)graph->base_cost);
    }
    return search.effort;
}
