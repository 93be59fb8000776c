/* remat_moves.c - the moves of the search for a schedule.
 *
 * - recompute: inserts the maker of what an operation reads right before it; what that maker reads is, if
 *   dead there, recomputed in its turn or kept until then (a coin).
 * - drop at peak: at a moment at which much is alive, frees a tensor that is read later; it is recomputed
 *   right before that.
 * - forget: removes a repeated occurrence; its readers read the life before.
 * - exchange: does both.
 * - gather: joins two lives of a tensor; the readers of one move to the other.
 * - meet: moves an operation next to another that touches a tensor it reads, as a rule with what else it
 *   reads recomputed there: so a weight gradient waits for the next life of an activation.
 * - shift: moves an operation elsewhere.
 *
 * A life that loses all its readers to a move is not looked for here: remat_measure() drops its operation.
 */
#include "solve/remat_moves.h"

#include <string.h>

static int random_below(RematMoves *moves, int end) {
    return (int)(((remat_random_bits(&moves->random) >> 32) * (uint64_t)end) >> 32);
}

double remat_random(RematMoves *moves) {
    return (double)((remat_random_bits(&moves->random) >> 11) + 1) * 0x1p-53;
}

static int reads_of(const RematNode *node) {
    return node->read_end - node[-1].read_end;
}

static bool reads(const RematGraph *graph, int o, int tensor) {
    const RematNode *node = &graph->node[o];
    for (int i = node[-1].read_end; i < node->read_end; i++)
        if (graph->read[i] == tensor)
            return true;
    return false;
}

static bool reads_from(const RematGraph *graph, int o, int maker) {
    const RematNode *node = &graph->node[o];
    for (int i = node[-1].read_end; i < node->read_end; i++)
        if (graph->maker[graph->read[i]] == maker)
            return true;
    return false;
}

static int random_read(RematMoves *moves, int o) {
    const RematNode *node = &moves->graph->node[o];
    return moves->graph->read[node[-1].read_end + random_below(moves, reads_of(node))];
}

static void insert_at(RematOrder *order, int position, int o) {
    int *at = order->operation + position;
    memmove(at + 1, at, (size_t)(order->length - position) * sizeof *at);
    *at = o;
    order->length++;
}

static void remove_at(RematOrder *order, int position) {
    int *at = order->operation + position;
    order->length--;
    memmove(at, at + 1, (size_t)(order->length - position) * sizeof *at);
}

/* How many operations a move may insert. */
static int room(const RematMoves *moves, const RematOrder *order) {
    enum { MAX_INSERTED = 512 };
    const int left = moves->graph->noperation * REMAT_MAX_REPEATS - order->length;
    return left < MAX_INSERTED ? left : MAX_INSERTED;
}

/* Finds the tensors that are read at POSITION or later, before they are written again.  The measured order
 * knows them for the part of the order that did not change. */
static void find_needed(RematMoves *moves, const RematOrder *order, int position) {
    const RematGraph *graph = moves->graph;
    const RematOrder *measured = moves->measured;
    const int more = order->length - measured->length;
    int p = order->length;
    while (p > position && p > more && order->operation[p - 1] == measured->operation[p - 1 - more])
        p--;
    remat_find_alive(graph, measured, p - more, moves->needed);
    while (p > position) {
        const RematNode *node = &graph->node[order->operation[--p]];
        for (int i = node[-1].write_end; i < node->write_end; i++)
            moves->needed[graph->write[i]] = graph->is_kept[graph->write[i]];
        for (int i = node[-1].read_end; i < node->read_end; i++)
            moves->needed[graph->read[i]] = true;
    }
}

/* Inserts the maker of TENSOR before POSITION, and before it some of the makers of what it reads, at most
 * MOST operations: where many paths lead to one tensor, there is no other end.  Returns the number of
 * operations inserted. */
static int insert_makers(RematMoves *moves, RematOrder *order, int position, int tensor, int most) {
    enum { ODDS_TO_KEEP = 4 };
    const RematGraph *graph = moves->graph;
    int maker = graph->maker[tensor], inserted = 0;
    const RematNode *node = &graph->node[maker];
    if (!node->repeatable || most <= 0)
        return 0;
    for (int i = node[-1].read_end; i < node->read_end; i++) {
        const int read = graph->read[i];
        if ((moves->certain || random_below(moves, ODDS_TO_KEEP) != 0) && !moves->needed[read] &&
            !graph->is_kept[read])
            inserted += insert_makers(moves, order, position + inserted, read, most - 1 - inserted);
    }
    insert_at(order, position + inserted, maker);
    return inserted + 1;
}

static int recompute_at(RematMoves *moves, RematOrder *order, int position, int tensor) {
    find_needed(moves, order, position);
    return insert_makers(moves, order, position, tensor, room(moves, order));
}

static bool recompute(RematMoves *moves, RematOrder *order) {
    enum { ODDS_TO_BE_EARLY = 4, EARLIEST = 6 };
    int position = random_below(moves, order->length), o = order->operation[position];
    if (position == 0 || reads_of(&moves->graph->node[o]) == 0)
        return false;
    int tensor = random_read(moves, o);
    if (random_below(moves, ODDS_TO_BE_EARLY) == 0)
        position -= random_below(moves, position < EARLIEST ? position : EARLIEST);
    return order->operation[position - 1] != moves->graph->maker[tensor] &&
           recompute_at(moves, order, position, tensor) > 0;
}

/* Marks the operations that read TENSOR, or no operation. */
static void mark_readers(RematMoves *moves, int tensor, bool mark) {
    const RematGraph *graph = moves->graph;
    for (int i = graph->reader_end[tensor - 1]; i < graph->reader_end[tensor]; i++)
        moves->marked[graph->reader[i]] = mark;
}

/* Draws a few positions and returns the one at which most bytes are alive. */
static int wide_position(RematMoves *moves, const RematOrder *order) {
    enum { OF = 4 };
    const RematMoment *moment = moves->measured->moment;
    int widest = random_below(moves, order->length);
    for (int i = 1; i < OF; i++) {
        const int position = random_below(moves, order->length);
        widest = moment[position].during > moment[widest].during ? position : widest;
    }
    return widest;
}

bool remat_drop(RematMoves *moves, RematOrder *order, int wide, int tensor) {
    const RematGraph *graph = moves->graph;
    const int maker = graph->maker[tensor], at_peak = order->operation[wide];
    if (at_peak == maker || reads(graph, at_peak, tensor))
        return false;
    int p = wide + 1;
    mark_readers(moves, tensor, true);
    while (p < order->length && !moves->marked[order->operation[p]] &&
           (order->operation[p] != maker || graph->is_kept[tensor]))
        p++;
    const bool is_alive = p < order->length && moves->marked[order->operation[p]] &&
                          (!graph->is_kept[tensor] || moves->measured->first[maker] <= wide);
    mark_readers(moves, tensor, false);
    return is_alive && recompute_at(moves, order, p, tensor) > 0;
}

static bool drop_at_peak(RematMoves *moves, RematOrder *order) {
    const RematGraph *graph = moves->graph;
    const int wide = wide_position(moves, order), behind = order->length - wide - 1;
    if (behind == 0)
        return false;
    const int later = order->operation[wide + 1 + random_below(moves, behind)];
    if (reads_of(&graph->node[later]) == 0)
        return false;
    return remat_drop(moves, order, wide, random_read(moves, later));
}

static bool forget(RematMoves *moves, RematOrder *order) {
    if (moves->nrepeated == 0)
        return false;
    remove_at(order, moves->repeated[random_below(moves, moves->nrepeated)]);
    return true;
}

/* Removes the occurrence at LATER; its readers move to the end of the life before. */
static void gather_early(const RematGraph *graph, RematOrder *order, int later) {
    int maker = order->operation[later], to = later - 1;
    while (order->operation[to] != maker && !reads_from(graph, order->operation[to], maker))
        to--;
    remove_at(order, later);
    for (int p = later; p < order->length && order->operation[p] != maker; p++) {
        int o = order->operation[p];
        if (!reads_from(graph, o, maker))
            continue;
        remove_at(order, p);
        insert_at(order, ++to, o);
    }
}

/* Removes the occurrence before the one at LATER; its readers move behind that. */
static void gather_late(const RematGraph *graph, RematOrder *order, int later) {
    int maker = order->operation[later], o = -1;
    for (int p = later - 1; o != maker; p--) {
        o = order->operation[p];
        if (o != maker && !reads_from(graph, o, maker))
            continue;
        remove_at(order, p);
        if (o != maker)
            insert_at(order, later, o);
        later--;
    }
}

static bool gather(RematMoves *moves, RematOrder *order) {
    if (moves->nrepeated == 0)
        return false;
    int later = moves->repeated[random_below(moves, moves->nrepeated)];
    if (random_below(moves, 2) == 0)
        gather_early(moves->graph, order, later);
    else
        gather_late(moves->graph, order, later);
    return true;
}

static bool move_to(RematOrder *order, int from, int to) {
    if (from == to || to < 0 || to >= order->length)
        return false;
    int o = order->operation[from];
    remove_at(order, from);
    insert_at(order, to, o);
    return true;
}

/* Most of what the operation at POSITION reads beside TENSOR. */
static void recompute_others(RematMoves *moves, RematOrder *order, int position, int tensor) {
    enum { PERCENT_OF_OTHERS = 80 };
    const RematGraph *graph = moves->graph;
    const RematNode *node = &graph->node[order->operation[position]];
    for (int i = node[-1].read_end; i < node->read_end; i++)
        if (graph->read[i] != tensor && random_below(moves, 100) < PERCENT_OF_OTHERS)
            position += recompute_at(moves, order, position, graph->read[i]);
}

static bool meet(RematMoves *moves, RematOrder *order) {
    enum { PERCENT_RECOMPUTING = 80 };
    const RematGraph *graph = moves->graph;
    int from = random_below(moves, order->length), o = order->operation[from];
    if (reads_of(&graph->node[o]) == 0)
        return false;
    int tensor = random_read(moves, o), count = 0, to = from;
    mark_readers(moves, tensor, true);
    moves->marked[graph->maker[tensor]] = true;
    for (int p = 0; p < order->length; p++)
        if (moves->marked[order->operation[p]] && p != from && random_below(moves, ++count) == 0)
            to = p;
    mark_readers(moves, tensor, false);
    moves->marked[graph->maker[tensor]] = false;
    bool behind = order->operation[to] == graph->maker[tensor] || random_below(moves, 2) == 0;
    to += behind - (to > from);
    if (!move_to(order, from, to))
        return false;
    if (random_below(moves, 100) < PERCENT_RECOMPUTING)
        recompute_others(moves, order, to, tensor);
    return true;
}

static bool shift(RematMoves *moves, RematOrder *order) {
    enum { REACH = 12, MAX_RUN = 4 };
    int run = random_below(moves, 2) == 0 ? 1 : 1 + random_below(moves, MAX_RUN);
    if (run > order->length)
        return false;
    int from = random_below(moves, order->length - run + 1), to = from;
    if (random_below(moves, 2) == 0)
        to = random_below(moves, order->length - run + 1);
    else
        to += random_below(moves, 2 * REACH + 1) - REACH;
    bool moved = true;
    for (int i = 0; i < run && moved; i++)
        moved = to < from ? move_to(order, from + i, to + i) : move_to(order, from, to + run - 1);
    return moved;
}

bool remat_move(RematMoves *moves, RematOrder *order) {
    enum { PERCENT_AT_PEAK = 30 };
    if (random_below(moves, 100) < PERCENT_AT_PEAK)
        return drop_at_peak(moves, order);
    int percent = random_below(moves, 100);
    if (percent < 30)
        return recompute(moves, order);
    if (percent < 50)
        return forget(moves, order);
    if (percent < 65)
        return forget(moves, order) && order->length > 0 && recompute(moves, order);
    if (percent < 75)
        return gather(moves, order);
    if (percent < 90)
        return meet(moves, order);
    return shift(moves, order);
}
