/* remat_segments.c - orders that compute the forward pass again segment by segment.
 *
 * The forward pass is cut into segments.  Tensors that later segments read are kept; the other tensors of a
 * segment are dropped, and computed again in front of the first backward operation that reads one of them
 * (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016).  For each of many amounts of memory
 * that a segment may take, a table finds the cuts at which the kept tensors take least.  With more memory,
 * less is computed again: some orders keep the tensors that cost most for their bytes, and some compute
 * only the first segments again.
 *
 * Chance seldom meets these orders: between them and the given order lie orders that cost more and need no
 * less.  The search (remat_search.c) makes them better.
 */
#include "solve/remat_front.h"

#include <stdlib.h>
#include <string.h>

/* A tensor that the backward pass reads and that can be made again. */
typedef struct {
    int tensor;
    double cost_of_byte;
} Saved;

typedef struct {
    const RematGraph *graph;
    Saved *saved; /* by rising cost of a byte */
    int nsaved;
    int *last;          /* per tensor: the last forward operation that reads or makes it */
    bool *is_kept;      /* per tensor: the backward pass reads it, and it is never dropped */
    int64_t *droppable; /* per tensor: the bytes of a saved tensor that is not kept */
    int *begin_of;      /* per number of operations in front: where the best last segment begins */
    int64_t *kept;      /* and the bytes that are kept then */
    int *segment;       /* per forward operation: the number of its segment */
    int *begin;         /* of segments; one more than there are */
    int count;
    bool *needed; /* per forward operation: it runs again with its segment */
    bool *done;   /* per segment */
    RematOrder order;
    int64_t effort;
} Segments;

static int first_read(const RematGraph *graph, int o) {
    return graph->node[o - 1].read_end;
}

static int first_write(const RematGraph *graph, int o) {
    return graph->node[o - 1].write_end;
}

static int by_cost_of_byte(const void *a, const void *b) {
    const Saved *x = a, *y = b;
    if (x->cost_of_byte != y->cost_of_byte)
        return x->cost_of_byte < y->cost_of_byte ? -1 : 1;
    return x->tensor - y->tensor;
}

static void find_saved(Segments *s) {
    const RematGraph *graph = s->graph;
    for (int t = 0; t < graph->ntensor; t++) {
        const int maker = graph->maker[t];
        s->last[t] = maker;
        if (maker < 0 || maker >= graph->nforward)
            continue;
        for (int i = graph->reader_end[t - 1]; i < graph->reader_end[t]; i++) {
            const int reader = graph->reader[i];
            s->is_kept[t] |= reader >= graph->nforward;
            if (reader < graph->nforward && reader > s->last[t])
                s->last[t] = reader;
        }
        if (s->is_kept[t] && graph->bytes[t] > 0 && graph->node[maker].repeatable && !graph->is_kept[t])
            s->saved[s->nsaved++] = (Saved){t, (double)graph->node[maker].cost / (double)graph->bytes[t]};
    }
    qsort(s->saved, (size_t)s->nsaved, sizeof *s->saved, by_cost_of_byte);
}

/* Drops the cheapest tensors, up to MOST bytes.  Returns how many bytes that are. */
static int64_t drop_cheapest(Segments *s, int64_t most) {
    int64_t sum = 0;
    for (int k = 0; k < s->nsaved; k++) {
        const int t = s->saved[k].tensor;
        const bool drops = sum + s->graph->bytes[t] <= most;
        s->is_kept[t] = !drops;
        s->droppable[t] = drops ? s->graph->bytes[t] : 0;
        sum += s->droppable[t];
    }
    return sum;
}

/* Finds the best last segment in front of each operation, if a segment drops at most MOST bytes, or is one
 * operation.  Going on from cut Q, `inside` is what the segment drops and `across` is what later segments
 * read. */
static void find_cuts(Segments *s, int64_t most, int64_t limit) {
    const RematGraph *graph = s->graph;
    for (int p = 1; p <= graph->nforward; p++)
        s->kept[p] = INT64_MAX;
    s->kept[0] = 0;
    for (int q = 0; q < graph->nforward && s->effort < limit; q++) {
        int64_t inside = 0, across = 0;
        for (int p = q; p < graph->nforward; p++, s->effort++) {
            for (int i = first_write(graph, p); i < graph->node[p].write_end; i++) {
                const int t = graph->write[i];
                *(s->last[t] > p ? &across : &inside) += s->droppable[t];
            }
            for (int i = first_read(graph, p); i < graph->node[p].read_end; i++) {
                const int t = graph->read[i];
                if (graph->maker[t] >= q && s->last[t] == p)
                    across -= s->droppable[t], inside += s->droppable[t];
            }
            if (inside > most && p > q)
                break;
            if (s->kept[q] + across < s->kept[p + 1]) {
                s->kept[p + 1] = s->kept[q] + across;
                s->begin_of[p + 1] = q;
            }
        }
    }
}

static void number_segments(Segments *s) {
    const int n = s->graph->nforward;
    s->count = 0;
    for (int p = n; p > 0; p = s->begin_of[p])
        s->count++;
    s->begin[s->count] = n;
    for (int p = n, k = s->count; p > 0; p = s->begin_of[p]) {
        s->begin[--k] = s->begin_of[p];
        for (int o = s->begin[k]; o < p; o++)
            s->segment[o] = k;
    }
}

/* Returns whether tensor T is dropped at the end of its segment. */
static bool is_dropped(const Segments *s, int t) {
    return !s->is_kept[t] && s->last[t] < s->begin[s->segment[s->graph->maker[t]] + 1];
}

/* Marks the operations that run again: they make tensors that the backward pass reads, or that marked
 * operations read. */
static void find_needed(Segments *s) {
    const RematGraph *graph = s->graph;
    for (int o = graph->nforward - 1; o >= 0; o--) {
        s->needed[o] = false;
        for (int i = first_write(graph, o); i < graph->node[o].write_end; i++) {
            const int t = graph->write[i];
            bool needed = s->droppable[t] > 0;
            for (int k = graph->reader_end[t - 1]; k < graph->reader_end[t]; k++)
                needed |= graph->reader[k] < graph->nforward && s->needed[graph->reader[k]];
            s->needed[o] |= needed && is_dropped(s, t) && graph->node[o].repeatable;
        }
    }
}

/* Writes segment K once more. */
static bool run_again(Segments *s, int k) {
    s->done[k] = true;
    for (int o = s->begin[k]; o < s->begin[k + 1]; o++) {
        if (!s->needed[o])
            continue;
        if (s->order.length == s->order.room)
            return false;
        s->order.operation[s->order.length++] = o;
    }
    return true;
}

/* Writes the order that computes the first AGAIN segments once more. */
static bool write_order(Segments *s, int again) {
    const RematGraph *graph = s->graph;
    memset(s->done, 0, (size_t)s->count * sizeof *s->done);
    s->order.length = 0;
    for (int o = 0; o < graph->noperation; o++) {
        for (int i = first_read(graph, o); o >= graph->nforward && i < graph->node[o].read_end; i++) {
            const int maker = graph->maker[graph->read[i]];
            if (maker >= graph->nforward || !s->needed[maker])
                continue;
            const int k = s->segment[maker];
            if (k < again && !s->done[k] && !run_again(s, k))
                return false;
        }
        if (s->order.length == s->order.room)
            return false;
        s->order.operation[s->order.length++] = o;
    }
    return true;
}

/* Adds orders that run the first segments again: all but the last, three quarters, half, and a quarter. */
static void add_orders(Segments *s, RematFront *front) {
    enum { PARTS = 4 };
    find_needed(s);
    for (int part = PARTS, before = 0; part > 0; part--) {
        const int again = part == PARTS ? s->count - 1 : s->count * part / PARTS;
        if (again <= 0 || again == before || !write_order(s, again))
            continue;
        before = again;
        s->effort += 2 * s->order.length;
        if (remat_measure(s->graph, INT64_MAX, &s->order))
            remat_front_add(front, &s->order);
    }
}

/* Cuts with the present choice of tensors, ALL bytes of them.  Small segments come first, because their
 * cuts are found soonest. */
static void cut(Segments *s, int64_t all, int64_t limit, RematFront *front) {
    enum { AMOUNTS = 40 };
    int64_t most = 0;
    for (int t = 0; t < s->graph->ntensor; t++)
        most = s->droppable[t] > most ? s->droppable[t] : most;
    for (int k = 0; k < AMOUNTS && most < all && s->effort < limit; k++, most += most / 4 + 1) {
        find_cuts(s, most, limit);
        if (s->kept[s->graph->nforward] == INT64_MAX)
            return;
        number_segments(s);
        add_orders(s, front);
    }
}

int64_t remat_segments(Pool *pool, const RematGraph *graph, int64_t effort, RematFront *front) {
    enum { CHOICES = 4 };
    const int n = graph->nforward;
    if (n <= 0 || n >= graph->noperation)
        return 0;
    Segments s = {.graph = graph,
                  .saved = NEW_ARRAY(pool, Saved, graph->ntensor),
                  .last = NEW_ARRAY(pool, int, graph->ntensor),
                  .is_kept = NEW_ARRAY(pool, bool, graph->ntensor),
                  .droppable = NEW_ARRAY(pool, int64_t, graph->ntensor),
                  .begin_of = NEW_ARRAY(pool, int, n + 1),
                  .kept = NEW_ARRAY(pool, int64_t, n + 1),
                  .segment = NEW_ARRAY(pool, int, n),
                  .begin = NEW_ARRAY(pool, int, n + 1),
                  .needed = NEW_ARRAY(pool, bool, n),
                  .done = NEW_ARRAY(pool, bool, n),
                  .order = remat_order(pool, graph)};
    find_saved(&s);
    const int64_t all = drop_cheapest(&s, INT64_MAX);
    for (int k = 0; k < CHOICES; k++)
        cut(&s, drop_cheapest(&s, all - all / CHOICES * k), effort / CHOICES * (k + 1), front);
    return s.effort;
}
