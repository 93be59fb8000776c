/* fuse.c - joins nodes that one kernel can do in one pass over memory.
 *
 *     conv, relu                       ->  conv with relu
 *     max_pool_grad, add               ->  max_pool_grad that adds
 *     conv_dgrad, relu_grad            ->  conv_dgrad with mask     (upconv_dgrad, max_pool_grad alike)
 *     conv, mse, psnr, mse_grad,
 *       conv_wgrad, conv_dgrad         ->  head                     (l1 alike)
 *
 * The row of the last node has the rule.  Each fused kernel is bit-equal to the nodes it replaces, so
 * whether they are fused never shows in a result.
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
    bool *stays;        /* per node */
};

Graph *fuse_graph(const Fuse *f) {
    return f->g;
}

Node *fuse_only_for_one(const Fuse *f, ValueId v) {
    const Value *value = &f->g->value[v];
    return f->readers[v] == 1 && value->producer >= 0 ? &f->g->node[value->producer] : NULL;
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

void fuse(Program *program) {
    Graph *g = program->graph;
    Fuse f = {.program = program,
              .g = g,
              .readers = count_readers(g),
              .stays = NEW_ARRAY(g->pool, bool, g->nnode)};
    for (int i = 0; i < g->nnode; i++)
        f.stays[i] = true;
    for (int i = 0; i < g->nnode; i++)
        op_table[g->node[i].op].fuse(&f, &g->node[i]);
    graph_compact(g, f.stays);
}
