/* fuse.c - joins nodes that one kernel can do in one pass over memory.
 *
 *     conv, relu                       ->  conv with relu
 *     max_pool_grad, add               ->  max_pool_grad that accumulates
 *     conv_dgrad, relu_grad            ->  conv_dgrad with mask     (upconv_dgrad, max_pool_grad alike)
 *
 * Each fused kernel is bit-equal to the pair it replaces, so whether a pair is fused never shows in a
 * result.
 *
 * Requires: the complete graph, `return` included (results must not vanish).  Provides: the same graph,
 * smaller.
 */
#include "plan.h"

typedef struct {
    Graph *g;
    int *readers; /* per value */
    bool *stays;  /* per node */
} Fuse;

/* The node that computes V, if nobody but one node reads it. */
static Node *only_for_one(const Fuse *f, ValueId v) {
    const Value *value = &f->g->value[v];
    return f->readers[v] == 1 && value->producer >= 0 ? &f->g->node[value->producer] : NULL;
}

static void take_over(Fuse *f, Node *first, Node *second) {
    first->out[0] = second->out[0];
    f->g->value[first->out[0]].producer = (NodeId)(first - f->g->node);
    f->stays[second - f->g->node] = false;
}

static void fuse_relu(Fuse *f, Node *relu) {
    Node *conv = only_for_one(f, relu->in[0]);
    if (conv == NULL || (conv->op != OP_CONV && conv->op != OP_UPCONV) || conv->a.relu)
        return;
    conv->a.relu = true;
    take_over(f, conv, relu);
}

/* The sum takes place where `add` stood, when both terms are there. */
static void fuse_sum(Fuse *f, Node *add) {
    for (int k = 1; k >= 0; k--) {
        Node *pool = only_for_one(f, add->in[k]);
        if (pool == NULL || pool->op != OP_MAX_POOL_GRAD || pool->a.accumulate || pool->a.mask)
            continue;
        Node fused = *pool;
        fused.a.accumulate = true;
        fused.in[2] = add->in[1 - k];
        fused.out[0] = add->out[0];
        f->stays[pool - f->g->node] = false;
        *add = fused;
        return;
    }
}

static void fuse_mask(Fuse *f, Node *relu_grad) {
    Node *gradient = only_for_one(f, relu_grad->in[1]);
    ValueId y = relu_grad->in[0];
    if (gradient == NULL || gradient->a.mask)
        return;
    bool convolution = gradient->op == OP_CONV_DGRAD || gradient->op == OP_UPCONV_DGRAD;
    bool pool = gradient->op == OP_MAX_POOL_GRAD && gradient->in[0] == y;
    if (!convolution && !pool)
        return;
    gradient->a.mask = true;
    if (convolution)
        gradient->in[2] = y;
    take_over(f, gradient, relu_grad);
}

static void count_readers(Fuse *f) {
    for (int i = 0; i < f->g->nnode; i++)
        for (int k = 0; k < f->g->node[i].nin; k++) {
            const ValueId *leaf;
            int n = value_leaves(f->g, &f->g->node[i].in[k], &leaf);
            for (int p = 0; p < n; p++)
                if (leaf[p] >= 0)
                    f->readers[leaf[p]]++;
        }
}

void fuse(Program *program) {
    Graph *g = program->graph;
    Fuse f = {
        .g = g, .readers = NEW_ARRAY(g->pool, int, g->nvalue), .stays = NEW_ARRAY(g->pool, bool, g->nnode)};
    count_readers(&f);
    for (int i = 0; i < g->nnode; i++)
        f.stays[i] = true;
    for (int i = 0; i < g->nnode; i++) {
        Node *node = &g->node[i];
        if (node->op == OP_RELU)
            fuse_relu(&f, node);
        else if (node->op == OP_ADD)
            fuse_sum(&f, node);
        else if (node->op == OP_RELU_GRAD)
            fuse_mask(&f, node);
    }
    graph_compact(g, f.stays);
}
