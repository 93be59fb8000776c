/* remat_order.c - measures sequences of operations: see remat_order.h.
 *
 * A sequence is walked from its end to its beginning: what is read comes to life, what is written ends it.
 * Behind the last position at which two sequences differ they need the same; in front of the first one,
 * too, from where the same tensors are alive.  So of a change only what lies between is walked.
 */
#include "solve/remat_order.h"

#include <string.h>

/* The search spends its time here: the walk stays in registers. */
#define INLINE static inline __attribute__((always_inline))

RematOrder remat_order(Pool *pool, const RematGraph *graph) {
    const int room = graph->noperation * REMAT_MAX_REPEATS;
    return (RematOrder){.room = room,
                        .operation = NEW_ARRAY(pool, int, room),
                        .first = NEW_ARRAY(pool, int, graph->noperation),
                        .moment = NEW_ARRAY(pool, RematMoment, room + 1),
                        .alive = pool_array(pool, (size_t)room + 2, (size_t)graph->ntensor)};
}

/* Those of one moment; room + 1: of none. */
static bool *flags_at(const RematGraph *graph, const RematOrder *order, int moment) {
    return order->alive + (size_t)moment * (size_t)graph->ntensor;
}

/* ---- the walk ---- */

/* The moment that it has come to. */
typedef struct {
    const RematGraph *graph;
    const int *operation; /* of the sequence */
    bool *alive;          /* per tensor */
    int64_t bytes, capacity;
    RematTotals behind;
} Walk;

static bool occurs_before(const Walk *walk, int position) {
    for (int p = 0; p < position; p++)
        if (walk->operation[p] == walk->operation[position])
            return true;
    return false;
}

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
        walk->bytes -= bytes;
        began |= alive;
    }
    return began != 0;
}

INLINE void end_lives(Walk *walk, const RematNode *node) {
    const RematGraph *graph = walk->graph;
    for (int i = node[-1].read_end; i < node->read_end; i++) {
        const int tensor = graph->read[i];
        walk->bytes += graph->bytes[tensor] & ~mask_of(walk->alive[tensor]);
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

/* Passes the operation at POSITION, and returns what is alive while it runs; -1: nobody reads what it
 * writes, and so it is left out. */
INLINE int64_t pass(Walk *walk, int position) {
    const RematNode *node = &walk->graph->node[walk->operation[position]];
    const bool first = !node->writes_a_kept || !node->repeatable || !occurs_before(walk, position);
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

static void enter(const RematGraph *graph, RematOrder *order, int moment, const Walk *walk) {
    order->moment[moment].behind = walk->behind;
    order->moment[moment].bytes = walk->bytes;
    memcpy(flags_at(graph, order, moment), walk->alive, (size_t)graph->ntensor * sizeof *walk->alive);
}

/* Moves what was found, from FIRST on, to the beginning. */
static void close_up(const RematGraph *graph, RematOrder *order, int first) {
    const size_t count = (size_t)(order->length -= first);
    memmove(order->operation, order->operation + first, count * sizeof *order->operation);
    memmove(order->moment, order->moment + first, (count + 1) * sizeof *order->moment);
    memmove(order->alive, flags_at(graph, order, first),
            (count + 1) * (size_t)graph->ntensor * sizeof *order->alive);
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
                 .alive = flags_at(graph, order, order->room + 1),
                 .bytes = graph->kept_bytes,
                 .capacity = capacity};
    memcpy(walk.alive, graph->is_kept, (size_t)graph->ntensor * sizeof *walk.alive);
    int first = order->length;
    enter(graph, order, first, &walk);
    for (int p = order->length - 1; p >= 0; p--) {
        const int64_t during = pass(&walk, p);
        if (during < 0)
            continue;
        order->operation[--first] = order->operation[p];
        order->moment[first].during = during;
        enter(graph, order, first, &walk);
    }
    close_up(graph, order, first);
    for (int p = order->length - 1; p >= 0; p--)
        order->first[order->operation[p]] = p;
    add_up_before(graph, capacity, order);
    for (int t = 0; t < graph->ntensor; t++)
        if (walk.alive[t])
            return false;
    return true;
}

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
} Change;

static Change change_between(const RematGraph *graph, const RematOrder *known, const RematOrder *order) {
    const int more = order->length - known->length, least = more < 0 ? order->length : known->length;
    Change c = {0, order->length};
    while (c.begin < least && known->operation[c.begin] == order->operation[c.begin])
        c.begin++;
    while (c.end > c.begin + (more > 0 ? more : 0) &&
           known->operation[c.end - 1 - more] == order->operation[c.end - 1])
        c.end--;
    if (bears_on_later(graph, known, c.begin, c.end - more) || bears_on_later(graph, order, c.begin, c.end))
        c.end = order->length;
    return c;
}

static bool occurs_within(const RematOrder *order, int begin, int end, int operation) {
    for (int p = begin; p < end; p++)
        if (order->operation[p] == operation)
            return true;
    return false;
}

/* Are all operations of the change behind those that make what they read? */
static bool reads_what_is_there(const RematGraph *graph, const RematOrder *known, const RematOrder *order,
                                Change c) {
    for (int p = c.begin; p < c.end; p++) {
        const RematNode *node = &graph->node[order->operation[p]];
        for (int i = node[-1].read_end; i < node->read_end; i++) {
            const int maker = graph->maker[graph->read[i]];
            if (known->first[maker] >= c.begin && !occurs_within(order, c.begin, p, maker))
                return false;
        }
    }
    return true;
}

/* Is the walk where it came in KNOWN?  From there on it would be as it was. */
INLINE bool is_moment(const RematGraph *graph, const Walk *walk, const RematOrder *known, int moment) {
    return walk->bytes == known->moment[moment].bytes &&
           memcmp(walk->alive, flags_at(graph, known, moment),
                  (size_t)graph->ntensor * sizeof *walk->alive) == 0;
}

bool remat_measure_change(const RematGraph *graph, int64_t capacity, const RematOrder *known,
                          RematOrder *order) {
    const Change c = change_between(graph, known, order);
    const int end_known = c.end + known->length - order->length;
    const RematMoment *end = &known->moment[end_known];
    Walk walk = {.graph = graph,
                 .operation = order->operation,
                 .alive = flags_at(graph, order, order->room + 1),
                 .bytes = end->bytes,
                 .capacity = capacity,
                 .behind = end->behind};
    if (!reads_what_is_there(graph, known, order, c))
        return false;
    memcpy(walk.alive, flags_at(graph, known, end_known), (size_t)graph->ntensor * sizeof *walk.alive);
    int p = c.end;
    while (p > c.begin || (p > 0 && !is_moment(graph, &walk, known, p)))
        (void)pass(&walk, --p);
    order->totals = sum(&known->moment[p].before, &walk.behind);
    return p > 0 || is_moment(graph, &walk, known, 0);
}
