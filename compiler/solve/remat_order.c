/* remat_order.c - measures sequences of operations: see remat_order.h.
 *
 * A sequence is walked from its end to its beginning: a tensor comes to life at its last reader, and its
 * life ends at its maker.  Two sequences that are equal behind a position need the same bytes there.  In
 * front of a position, too, they need the same bytes if they are equal there and the same tensors are alive
 * at the position.  So only the part between the two positions is walked to measure a change.
 *
 * Sets of tensors are compared by their keys, random numbers of 64 bits (Zobrist, A New Hashing Method with
 * Application for Game Playing, 1970).  If two sets had the same key, the search would judge one change
 * wrongly.  An order that it accepts is measured as a whole.
 *
 * Which tensors are alive at a moment would be a table as large as the square of the problem.  An order
 * keeps the turns instead, where a tensor comes to life or its life is over, and now and then a record of
 * all tensors, from which a few turns lead to any moment.
 */
#include "solve/remat_order.h"

#include <string.h>

/* The search spends its time here: the walk stays in registers. */
#define INLINE static inline __attribute__((always_inline))

/* A tensor's life is over no more often than it is written; it comes to life once more at most. */
static size_t most_turns(const RematGraph *graph, int room) {
    size_t writes = 0;
    for (int o = 0; o < graph->noperation; o++) {
        const size_t count = (size_t)(graph->node[o].write_end - graph->node[o - 1].write_end);
        writes = count > writes ? count : writes;
    }
    return 2 * writes * (size_t)room + (size_t)graph->ntensor;
}

RematOrder remat_order(Pool *pool, const RematGraph *graph) {
    enum { LEAST_STRIDE = 64, PART = 4 };
    const int room = graph->noperation * REMAT_MAX_REPEATS, part = graph->ntensor / PART,
              stride = part > LEAST_STRIDE ? part : LEAST_STRIDE;
    const size_t turns = most_turns(graph, room), records = turns / (size_t)stride + 1;
    return (RematOrder){.room = room,
                        .operation = NEW_ARRAY(pool, int, room),
                        .first = NEW_ARRAY(pool, int, graph->noperation),
                        .moment = NEW_ARRAY(pool, RematMoment, room + 1),
                        .turn = NEW_ARRAY(pool, int, turns + 1),
                        .stride = stride,
                        .record = pool_array(pool, records, (size_t)graph->ntensor),
                        .recorded = NEW_ARRAY(pool, int, records),
                        .alive = NEW_ARRAY(pool, bool, graph->ntensor),
                        .marked = NEW_ARRAY(pool, bool, graph->noperation)};
}

void remat_copy_operations(RematOrder *to, const RematOrder *from) {
    to->length = from->length;
    memcpy(to->operation, from->operation, (size_t)from->length * sizeof *to->operation);
}

void remat_find_alive(const RematGraph *graph, const RematOrder *measured, int moment, bool *alive) {
    const int turns = measured->moment[moment].turns, k = turns / measured->stride;
    const bool *record = measured->record + (size_t)k * (size_t)graph->ntensor;
    memcpy(alive, record, (size_t)graph->ntensor * sizeof *alive);
    for (int i = measured->recorded[k]; i < turns; i++)
        alive[measured->turn[i]] = !alive[measured->turn[i]];
}

/* ---- the walk ---- */

/* The moment that it has come to. */
typedef struct {
    const RematGraph *graph;
    const int *operation; /* of the sequence */
    const int *first;     /* per operation that writes a kept tensor: its first position */
    bool *alive;          /* per tensor */
    int *turn, turns;     /* so far */
    uint64_t key;         /* of the tensors that are alive */
    int64_t bytes, capacity;
    RematTotals behind;
} Walk;

/* Whether a tensor is alive is hard to foresee, so nothing branches on it: -1 if it is, else 0. */
INLINE int64_t mask_of(bool alive) {
    return -(int64_t)alive;
}

/* The operation begins the lives of what it writes; a kept tensor's only if this is its first occurrence.
 * Returns whether any began, the bytes that only this operation needs in OWN. */
INLINE bool begin_lives(Walk *walk, const RematNode *node, bool first, int64_t *own) {
    const RematGraph *graph = walk->graph;
    int64_t began = 0;
    *own = node->own;
    for (int i = node[-1].write_end; i < node->write_end; i++) {
        const int tensor = graph->write[i];
        const int64_t alive = mask_of(walk->alive[tensor]), bytes = graph->bytes[tensor] & alive;
        *own -= bytes;
        if (!first && graph->is_kept[tensor])
            continue;
        walk->alive[tensor] = false;
        walk->turn[walk->turns] = tensor;
        walk->turns -= (int)alive;
        walk->bytes -= bytes;
        walk->key ^= graph->key[tensor] & (uint64_t)alive;
        began |= alive;
    }
    return began != 0;
}

INLINE void end_lives(Walk *walk, const RematNode *node) {
    const RematGraph *graph = walk->graph;
    for (int i = node[-1].read_end; i < node->read_end; i++) {
        const int tensor = graph->read[i];
        const int64_t dead = ~mask_of(walk->alive[tensor]);
        walk->bytes += graph->bytes[tensor] & dead;
        walk->key ^= graph->key[tensor] & (uint64_t)dead;
        walk->turn[walk->turns] = tensor;
        walk->turns += !walk->alive[tensor];
        walk->alive[tensor] = true;
    }
}

INLINE RematTotals sum(const RematTotals *a, const RematTotals *b) {
    RematTotals totals = {.peak = a->peak > b->peak ? a->peak : b->peak, .excess = a->excess + b->excess};
    if (__builtin_add_overflow(a->cost, b->cost, &totals.cost))
        totals.cost = INT64_MAX;
    return totals;
}

INLINE void add(RematTotals *totals, const RematNode *node, int64_t during, int64_t capacity) {
    const int64_t beyond = during - capacity;
    const RematTotals one = {node->cost, during, (double)(beyond & ~(beyond >> 63))};
    *totals = sum(totals, &one);
}

/* Passes the operation at POSITION, and returns the bytes alive while it runs; -1: nobody reads its
 * results, so it is left out. */
INLINE int64_t pass(Walk *walk, int position) {
    const RematNode *node = &walk->graph->node[walk->operation[position]];
    const bool first =
        !node->writes_a_kept || !node->repeatable || walk->first[walk->operation[position]] == position;
    int64_t during = walk->bytes, own;
    if (!begin_lives(walk, node, first, &own) && node->repeatable)
        return -1;
    if (node->in_place >= 0)
        own -= node->saved & ~mask_of(walk->alive[node->in_place]);
    during += own - walk->bytes;
    end_lives(walk, node);
    during += walk->bytes;
    add(&walk->behind, node, during, walk->capacity);
    return during;
}

/* ---- a sequence ---- */

static void find_first(RematOrder *order) {
    for (int p = order->length - 1; p >= 0; p--)
        order->first[order->operation[p]] = p;
}

static void take_record(const RematGraph *graph, RematOrder *order, const Walk *walk) {
    bool *record = order->record + (size_t)order->records * (size_t)graph->ntensor;
    memcpy(record, walk->alive, (size_t)graph->ntensor * sizeof *record);
    order->recorded[order->records++] = walk->turns;
}

static void enter(const RematGraph *graph, RematOrder *order, int moment, const Walk *walk) {
    order->moment[moment].behind = walk->behind;
    order->moment[moment].bytes = walk->bytes;
    order->moment[moment].turns = walk->turns;
    order->moment[moment].key = walk->key;
    while (walk->turns / order->stride >= order->records)
        take_record(graph, order, walk);
}

/* Moves what was found, from FIRST on, to the beginning. */
static void close_up(RematOrder *order, int first) {
    const size_t count = (size_t)(order->length -= first);
    memmove(order->operation, order->operation + first, count * sizeof *order->operation);
    memmove(order->moment, order->moment + first, (count + 1) * sizeof *order->moment);
}

static void add_up_before(const RematGraph *graph, int64_t capacity, RematOrder *order) {
    RematTotals totals = {0};
    for (int p = 0; p < order->length; p++) {
        order->moment[p].before = totals;
        add(&totals, &graph->node[order->operation[p]], order->moment[p].during, capacity);
    }
    order->moment[order->length].before = order->totals = totals;
}

bool remat_measure(const RematGraph *graph, int64_t capacity, RematOrder *order) {
    Walk walk = {.graph = graph,
                 .operation = order->operation,
                 .first = order->first,
                 .alive = order->alive,
                 .turn = order->turn,
                 .bytes = graph->kept_bytes,
                 .capacity = capacity};
    memcpy(walk.alive, graph->is_kept, (size_t)graph->ntensor * sizeof *walk.alive);
    find_first(order);
    int first = order->length;
    order->records = 0;
    enter(graph, order, first, &walk);
    for (int p = order->length - 1; p >= 0; p--) {
        const int64_t during = pass(&walk, p);
        if (during < 0)
            continue;
        order->operation[--first] = order->operation[p];
        order->moment[first].during = during;
        enter(graph, order, first, &walk);
    }
    close_up(order, first);
    find_first(order);
    add_up_before(graph, capacity, order);
    for (int t = 0; t < graph->ntensor; t++)
        if (walk.alive[t])
            return false;
    return true;
}

/* ---- a change ---- */

/* Does an occurrence behind [BEGIN, END) mean something else if one of these is its first? */
static bool bears_on_later(const RematGraph *graph, const RematOrder *order, int begin, int end) {
    for (int p = begin; p < end; p++) {
        const RematNode *node = &graph->node[order->operation[p]];
        if (node->writes_a_kept && node->repeatable)
            return true;
    }
    return false;
}

/* The positions [BEGIN, END) of an order, which is another's in front and behind. */
typedef struct {
    int begin, end;
    bool moves_first; /* other occurrences may be the first of their operations */
} Change;

static Change change_between(const RematGraph *graph, const RematOrder *known, const RematOrder *order) {
    const int more = order->length - known->length, least = more < 0 ? order->length : known->length;
    Change c = {0, order->length, false};
    while (c.begin < least && known->operation[c.begin] == order->operation[c.begin])
        c.begin++;
    while (c.end > c.begin + (more > 0 ? more : 0) &&
           known->operation[c.end - 1 - more] == order->operation[c.end - 1])
        c.end--;
    c.moves_first =
        bears_on_later(graph, known, c.begin, c.end - more) || bears_on_later(graph, order, c.begin, c.end);
    if (c.moves_first)
        c.end = order->length;
    return c;
}

static bool reads_marked(const RematGraph *graph, const RematOrder *known, const RematOrder *order,
                         Change c, const RematNode *node) {
    for (int i = node[-1].read_end; i < node->read_end; i++) {
        const int maker = graph->maker[graph->read[i]];
        if (known->first[maker] >= c.begin && !order->marked[maker])
            return false;
    }
    return true;
}

/* Returns whether each operation of the change stands behind the makers of its operands. */
static bool reads_what_is_there(const RematGraph *graph, const RematOrder *known, const RematOrder *order,
                                Change c) {
    int end = c.begin;
    while (end < c.end && reads_marked(graph, known, order, c, &graph->node[order->operation[end]]))
        order->marked[order->operation[end++]] = true;
    for (int p = c.begin; p < end; p++)
        order->marked[order->operation[p]] = false;
    return end == c.end;
}

bool remat_measure_change(const RematGraph *graph, int64_t capacity, const RematOrder *known,
                          RematOrder *order) {
    const Change c = change_between(graph, known, order);
    if (!reads_what_is_there(graph, known, order, c))
        return false;
    if (c.moves_first)
        find_first(order);
    const RematMoment *moment = known->moment, *end = &moment[c.end + known->length - order->length];
    Walk walk = {.graph = graph,
                 .operation = order->operation,
                 .first = c.moves_first ? order->first : known->first,
                 .alive = order->alive,
                 .turn = order->turn,
                 .bytes = end->bytes,
                 .capacity = capacity,
                 .key = end->key,
                 .behind = end->behind};
    remat_find_alive(graph, known, (int)(end - moment), walk.alive);
    int p = c.end;
    while (p > c.begin)
        (void)pass(&walk, --p);
    while (p > 0 && walk.key != moment[p].key)
        (void)pass(&walk, --p);
    order->totals = sum(&moment[p].before, &walk.behind);
    return walk.key == moment[p].key;
}
