/* remat_graph.c - the problem of recomputation in compact form, and what a schedule needs and costs. */
#include "solve/remat_graph.h"
#include "base/diag.h"

#include <string.h>

/* Which operation writes each tensor, and which tensors are read. */
static void find_makers(const RematProblem *problem, int *maker, bool *is_read) {
    for (int t = 0; t < problem->ntensor; t++)
        maker[t] = -1;
    for (int o = 0; o < problem->noperation; o++)
        for (int i = 0; i < problem->operation[o].nwrite; i++) {
            CHECK(maker[problem->operation[o].write[i]] < 0);
            maker[problem->operation[o].write[i]] = o;
        }
    for (int o = 0; o < problem->noperation; o++)
        for (int i = 0; i < problem->operation[o].nread; i++) {
            CHECK(maker[problem->operation[o].read[i]] < o);
            is_read[problem->operation[o].read[i]] = true;
        }
}

static bool holds(const int *list, int first, int end, int element) {
    for (int i = first; i < end; i++)
        if (list[i] == element)
            return true;
    return false;
}

/* The first output may take the place of an input that is not a result and comes from an operation. */
static int in_place_tensor(const RematGraph *graph, const RematOperation *operation) {
    if (operation->in_place < 0 || operation->nwrite == 0)
        return -1;
    CHECK(operation->in_place < operation->nread);
    int input = operation->read[operation->in_place];
    bool fits = graph->bytes[operation->write[0]] <= graph->bytes[input];
    return fits && graph->maker[input] >= 0 && !graph->is_kept[input] ? input : -1;
}

static void fill_node(RematGraph *graph, const RematOperation *operation, int o, const bool *is_read) {
    RematNode *node = &graph->node[o];
    *node = (RematNode){.cost = operation->cost,
                        .scratch = operation->scratch,
                        .own = operation->scratch,
                        .read_end = node[-1].read_end,
                        .write_end = node[-1].write_end};
    for (int i = 0; i < operation->nread; i++) {
        int tensor = operation->read[i];
        if (graph->maker[tensor] >= 0 && !holds(graph->read, node[-1].read_end, node->read_end, tensor))
            graph->read[node->read_end++] = tensor;
    }
    for (int i = 0; i < operation->nwrite; i++) {
        int tensor = operation->write[i];
        graph->write[node->write_end++] = tensor;
        node->own += graph->bytes[tensor];
        node->writes_a_kept |= graph->is_kept[tensor];
        node->repeatable |= operation->repeatable && is_read[tensor];
    }
    node->in_place = in_place_tensor(graph, operation);
    node->saved = node->in_place < 0 ? 0 : graph->bytes[operation->write[0]];
}

RematGraph *remat_graph(Pool *pool, const RematProblem *problem) {
    int n = problem->noperation, ntensor = problem->ntensor, nread = 0, nwrite = 0;
    for (int o = 0; o < n; o++) {
        nread += problem->operation[o].nread;
        nwrite += problem->operation[o].nwrite;
    }
    RematGraph *graph = NEW(pool, RematGraph);
    *graph = (RematGraph){.noperation = n,
                          .ntensor = ntensor,
                          .node = NEW_ARRAY(pool, RematNode, n + 1) + 1,
                          .read = NEW_ARRAY(pool, int, nread),
                          .write = NEW_ARRAY(pool, int, nwrite),
                          .maker = NEW_ARRAY(pool, int, ntensor),
                          .bytes = NEW_ARRAY(pool, int64_t, ntensor),
                          .kept = NEW_ARRAY(pool, int, ntensor),
                          .is_kept = NEW_ARRAY(pool, bool, ntensor)};
    bool *is_read = NEW_ARRAY(pool, bool, ntensor);
    find_makers(problem, graph->maker, is_read);
    for (int t = 0; t < ntensor; t++) {
        graph->bytes[t] = problem->bytes[t];
        graph->is_kept[t] = problem->kept != NULL && problem->kept[t] && graph->maker[t] >= 0;
        if (graph->is_kept[t]) {
            graph->kept[graph->nkept++] = t;
            graph->kept_bytes += graph->bytes[t];
        }
    }
    for (int o = 0; o < n; o++) {
        fill_node(graph, &problem->operation[o], o, is_read);
        graph->base_cost += graph->node[o].cost;
    }
    return graph;
}

RematOrder remat_order(Pool *pool, int noperation) {
    const int room = noperation * REMAT_MAX_REPEATS;
    return (RematOrder){
        .room = room, .operation = NEW_ARRAY(pool, int, room), .bytes = NEW_ARRAY(pool, int64_t, room)};
}

static bool occurs_before(const RematOrder *order, int position, int o) {
    return holds(order->operation, 0, position, o);
}

/* What is alive while the order is walked from its end to its beginning. */
typedef struct {
    const RematGraph *graph;
    bool *alive; /* per tensor: needed after the present operation */
    int64_t bytes;
    int count;
} Walk;

/* The operation begins the lives of what it writes; a kept tensor's only if this is its first occurrence.
 * Returns how many began, the bytes that only this operation needs in OWN. */
static int begin_lives(Walk *walk, const RematNode *node, bool first, int64_t *own) {
    const RematGraph *graph = walk->graph;
    int began = 0;
    *own = node->own;
    for (int i = node[-1].write_end; i < node->write_end; i++) {
        int tensor = graph->write[i];
        if (!walk->alive[tensor])
            continue;
        *own -= graph->bytes[tensor];
        if (graph->is_kept[tensor] && !first)
            continue;
        walk->alive[tensor] = false;
        walk->bytes -= graph->bytes[tensor];
        began++;
    }
    walk->count -= began;
    return began;
}

static void end_lives(Walk *walk, const RematNode *node) {
    const RematGraph *graph = walk->graph;
    for (int i = node[-1].read_end; i < node->read_end; i++) {
        int tensor = graph->read[i];
        if (walk->alive[tensor])
            continue;
        walk->alive[tensor] = true;
        walk->bytes += graph->bytes[tensor];
        walk->count++;
    }
}

bool remat_measure(const RematGraph *graph, int64_t capacity, bool *alive, RematOrder *order) {
    Walk walk = {graph, alive, graph->kept_bytes, graph->nkept};
    memset(alive, 0, (size_t)graph->ntensor * sizeof *alive);
    for (int i = 0; i < graph->nkept; i++)
        alive[graph->kept[i]] = true;
    order->cost = order->peak = 0;
    order->excess = 0;
    int end = order->length, begin = end;
    for (int p = end - 1; p >= 0; p--) {
        int o = order->operation[p];
        const RematNode *node = &graph->node[o];
        bool first = !node->writes_a_kept || !node->repeatable || !occurs_before(order, p, o);
        int64_t after = walk.bytes, own;
        if (begin_lives(&walk, node, first, &own) == 0 && node->repeatable)
            continue;
        if (node->in_place >= 0 && !alive[node->in_place])
            own -= node->saved;
        int64_t between = walk.bytes;
        end_lives(&walk, node);
        int64_t during = after + own + (walk.bytes - between);
        order->operation[--begin] = o;
        order->bytes[begin] = during;
        if (__builtin_add_overflow(order->cost, node->cost, &order->cost))
            order->cost = INT64_MAX;
        order->peak = during > order->peak ? during : order->peak;
        order->excess += during > capacity ? (double)(during - capacity) : 0;
    }
    order->length = end - begin;
    memmove(order->operation, order->operation + begin, (size_t)order->length * sizeof *order->operation);
    memmove(order->bytes, order->bytes + begin, (size_t)order->length * sizeof *order->bytes);
    return walk.count == 0;
}
