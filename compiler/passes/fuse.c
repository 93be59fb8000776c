/* fuse.c - joins nodes that one kernel can do in one pass over memory.
 *
 *     conv, relu                       ->  conv with relu
 *     max_pool_grad, add               ->  max_pool_grad that adds
 *     conv_dgrad, relu_grad            ->  conv_dgrad with mask     (upconv_dgrad, max_pool_grad alike)
 *     conv_dgrad, add                  ->  conv_dgrad that adds     (upconv_dgrad alike, on a GPU)
 *     batch_norm, prelu, and their
 *       gradients                      ->  batch_norm and its gradients, with the slopes
 *     conv, mse, psnr, mse_grad,
 *       conv_wgrad, conv_dgrad         ->  head                     (l1 alike)
 *
 * The row of the last node has the rule.  A fused kernel of f32 is bit-equal to the nodes it replaces; only
 * the gradients of slopes are sums in another order.  The graph alone decides, so no plan changes a result.
 *
 * Requires: the complete graph, `return` included (results must not vanish).
 * Provides: the same graph, smaller.
 */
#include "ir/rule_fuse.h"
#include "passes/passes.h"

struct Fuse {
    const Program *program;
    Graph *g;
    const int *readers; /* per value */
    NodeId *reader;     /* the readers of one value after another, */
    int *end;           /*   and per value where they end */
    bool *stays;        /* per node */
};

Graph *fuse_graph(const Fuse *f) {
    return f->g;
}

Node *fuse_only_for_one(const Fuse *f, ValueId v) {
    const Value *value = &f->g->value[v];
    return f->readers[v] == 1 && value->producer >= 0 ? &f->g->node[value->producer] : NULL;
}

int fuse_readers(const Fuse *f, ValueId v, const NodeId **reader) {
    *reader = f->reader + (v > 0 ? f->end[v - 1] : 0);
    return f->readers[v];
}

void fuse_drop(Fuse *f, const Node *first) {
    f->stays[first - f->g->node] = false;
}

void fuse_take_over(Fuse *f, Node *first, const Node *second) {
    first->out[0] = second->out[0];
    f->g->value[first->out[0]].producer = (NodeId)(first - f->g->node);
    fuse_drop(f, second);
}

bool fuse_fits(const Fuse *f, const Node *node) {
    bool (*const fits)(const Program *, const Node *) = f->program->target->kernel[node->op].fits;
    return fits != NULL && fits(f->program, node);
}

/* Lists the readers of each value. */
static void list_readers(Fuse *f) {
    const Graph *g = f->g;
    int sum = 0;
    f->readers = count_readers(g);
    f->end = NEW_ARRAY(g->pool, int, g->nvalue);
    for (ValueId v = 0; v < g->nvalue; v++) {
        f->end[v] = sum;
        sum += f->readers[v];
    }
    f->reader = NEW_ARRAY(g->pool, NodeId, sum);
    for (int i = 0; i < g->nnode; i++)
        for (Touch t = node_touches(g, &g->node[i]); touch_next(&t);)
            if (!t.is_output)
                f->reader[f->end[t.value]++] = i;
}

void fuse(Program *program) {
    Graph *g = program->graph;
    Fuse f = {.program = program, .g = g, .stays = NEW_ARRAY(g->pool, bool, g->nnode)};
    list_readers(&f);
    for (int i = 0; i < g->nnode; i++)
        f.stays[i] = true;
    for (int i = 0; i < g->nnode; i++)
        op_table[g->node[i].op].fuse(&f, &g->node[i]);
    graph_compact(g, f.stays);
}
