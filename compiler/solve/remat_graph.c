/* remat_graph.c - the problem of recomputation in compact form. */
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

uint64_t remat_random_bits(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void draw_keys(RematGraph *graph) {
    uint64_t state = 0;
    for (int t = 0; t < graph->ntensor; t++)
        graph->key[t] = remat_random_bits(&state);
}

static void find_readers(RematGraph *graph) {
    const int n = graph->noperation, count = graph->node[n - 1].read_end;
    int *end = graph->reader_end;
    for (int i = 0; i < count; i++)
        end[graph->read[i]]++;
    for (int t = 0; t < graph->ntensor; t++)
        end[t] += end[t - 1];
    for (int o = n - 1; o >= 0; o--)
        for (int i = graph->node[o - 1].read_end; i < graph->node[o].read_end; i++)
            graph->reader[--end[graph->read[i]]] = o;
    for (int t = 0; t < graph->ntensor; t++)
        end[t] = t + 1 < graph->ntensor ? end[t + 1] : count;
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
                          .nforward = problem->nforward,
                          .node = NEW_ARRAY(pool, RematNode, n + 1) + 1,
                          .read = NEW_ARRAY(pool, int, nread),
                          .write = NEW_ARRAY(pool, int, nwrite),
                          .maker = NEW_ARRAY(pool, int, ntensor),
                          .bytes = NEW_ARRAY(pool, int64_t, ntensor),
                          .kept = NEW_ARRAY(pool, int, ntensor),
                          .is_kept = NEW_ARRAY(pool, bool, ntensor),
                          .key = NEW_ARRAY(pool, uint64_t, ntensor),
                          .reader = NEW_ARRAY(pool, int, nread),
                          .reader_end = NEW_ARRAY(pool, int, ntensor + 1) + 1};
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
    draw_keys(graph);
    find_readers(graph);
    return graph;
}
