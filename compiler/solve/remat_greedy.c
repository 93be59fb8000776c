/* remat_greedy.c - orders in which one tensor after the other is dropped where most is alive.
 *
 * From the given order on, the capacity shrinks step by step.  While bytes are alive beyond it, a tensor is
 * dropped that is alive at the widest moment and idle there: the one that removes most of the excess for
 * its cost. Nothing is left to chance.  The search (remat_search.c) goes on from the orders that are met on
 * the way, which are good where little is computed again: there the cheap tensors decide, and a random move
 * seldom meets them.
 */
#include "solve/remat_front.h"
#include "solve/remat_moves.h"

enum { TRIED = 24 }; /* tensors tried at a moment, by falling bytes per cost of their makers */

typedef struct {
    const RematGraph *graph;
    RematMoves moves;
    RematOrder now, next, best;
    int64_t capacity, effort;
    bool *alive;                /* per tensor, behind the widest moment */
    int tensor[TRIED], ntensor; /* falling worth */
} Greedy;

static double worth(const Greedy *greedy, int tensor) {
    const RematGraph *graph = greedy->graph;
    return (double)graph->bytes[tensor] / ((double)graph->node[graph->maker[tensor]].cost + 1);
}

static int widest(const RematOrder *order) {
    int wide = 0;
    for (int p = 1; p < order->length; p++)
        wide = order->moment[p].during > order->moment[wide].during ? p : wide;
    return wide;
}

/* Lists the tensors alive behind position WIDE that are worth most. */
static void find_tensors(Greedy *greedy, int wide) {
    const RematGraph *graph = greedy->graph;
    greedy->ntensor = 0;
    remat_find_alive(graph, &greedy->now, wide + 1, greedy->alive);
    for (int t = 0; t < graph->ntensor; t++) {
        if (graph->is_kept[t] || !graph->node[graph->maker[t]].repeatable || graph->bytes[t] == 0 ||
            !greedy->alive[t])
            continue;
        int k = greedy->ntensor < TRIED ? greedy->ntensor++ : TRIED;
        for (; k > 0 && worth(greedy, t) > worth(greedy, greedy->tensor[k - 1]); k--)
            if (k < TRIED)
                greedy->tensor[k] = greedy->tensor[k - 1];
        if (k < TRIED)
            greedy->tensor[k] = t;
    }
}

/* Excess that NEXT removes for each unit of its cost; 0 or less: it removes none. */
static double gain(const Greedy *greedy) {
    const RematTotals *now = &greedy->now.totals, *next = &greedy->next.totals;
    const double extra = (double)(next->cost - now->cost);
    return (now->excess - next->excess) / (extra > 1 ? extra : 1);
}

/* Drops the tensor that gains most; false if none does. */
static bool drop_best(Greedy *greedy) {
    const int wide = widest(&greedy->now);
    double most = 0;
    find_tensors(greedy, wide);
    greedy->effort += greedy->graph->ntensor;
    greedy->moves.measured = &greedy->now;
    for (int k = 0; k < greedy->ntensor; k++) {
        remat_copy_operations(&greedy->next, &greedy->now);
        greedy->effort += 2 * greedy->now.length;
        if (!remat_drop(&greedy->moves, &greedy->next, wide, greedy->tensor[k]) ||
            !remat_measure_change(greedy->graph, greedy->capacity, &greedy->now, &greedy->next) ||
            gain(greedy) <= most)
            continue;
        most = gain(greedy);
        remat_copy_operations(&greedy->best, &greedy->next);
    }
    if (most > 0)
        remat_copy_operations(&greedy->now, &greedy->best);
    return most > 0 && remat_measure(greedy->graph, greedy->capacity, &greedy->now);
}

/* From the present order on, each capacity less than the one before by a part in PARTS. */
static void descend(Greedy *greedy, int parts, int64_t most, int64_t limit, RematFront *front) {
    const RematGraph *graph = greedy->graph;
    greedy->capacity = front->limit[front->count - 1];
    bool goes_on = remat_measure(graph, greedy->capacity, &greedy->now);
    while (goes_on && greedy->effort < limit && greedy->now.totals.cost - graph->base_cost < most) {
        if (greedy->now.totals.excess > 0) {
            goes_on = drop_best(greedy);
            remat_front_add(front, &greedy->now);
        } else {
            greedy->capacity = greedy->now.totals.peak - greedy->now.totals.peak / parts - 1;
            goes_on =
                greedy->capacity > front->limit[0] && remat_measure(graph, greedy->capacity, &greedy->now);
        }
    }
}

int64_t remat_greedy(Pool *pool, const RematGraph *graph, int64_t most, int64_t effort, RematFront *front) {
    static const int parts[] = {16, 4, 2};
    enum { RUNS = sizeof parts / sizeof *parts };
    Greedy greedy = {.graph = graph,
                     .moves = {.graph = graph,
                               .certain = true,
                               .needed = NEW_ARRAY(pool, bool, graph->ntensor),
                               .marked = NEW_ARRAY(pool, bool, graph->noperation)},
                     .now = remat_order(pool, graph),
                     .next = remat_order(pool, graph),
                     .best = remat_order(pool, graph),
                     .alive = NEW_ARRAY(pool, bool, graph->ntensor)};
    for (int r = 0; r < RUNS; r++) {
        greedy.now.length = 0;
        for (int o = 0; o < graph->noperation; o++)
            greedy.now.operation[greedy.now.length++] = o;
        descend(&greedy, parts[r], most, effort / RUNS * (r + 1), front);
    }
    return greedy.effort;
}
