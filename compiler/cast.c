/* cast.c - inputs in the type in which activations are stored.
 *
 * Where the loader leaves another type than that of activations, a `cast` in front of an input's first
 * reader copies it into their type, and all read the copy, save those that measure: losses, metrics and the
 * gradients of losses take what the loader left, so that no target is rounded once more.  Where the next
 * inputs come while a step runs, there is such a copy in any case: the gradient of the first layer reads
 * its input at the very end.
 *
 * Requires: the types of values, the complete graph.  Provides: the same graph with `cast` nodes.
 */
#include "ops.h"
#include "plan.h"

typedef struct {
    Graph *g;
    ValueId *copy; /* per value of the old graph: what is read in its place, or -1 */
    Type stored;
} Cast;

static bool measures(Op op) {
    return op_table[op].cpu == cpu_loss || op == OP_MSE_GRAD || op == OP_L1_GRAD;
}

static ValueId as_stored(Cast *c, ValueId v) {
    Graph *g = c->g;
    if (v < 0 || g->value[v].class != CLASS_STAGING)
        return v;
    if (c->copy[v] < 0) {
        Value value = g->value[v];
        value.class = CLASS_ACTIVATION;
        value.type = c->stored;
        value.name = pool_text(g->pool, "%s cast", value.name);
        c->copy[v] = value_new(g, value);
        node_new(g, (Node){.op = OP_CAST, .nin = 1, .nout = 1, .name = value.name, .place = value.place},
                 &v, &c->copy[v]);
    }
    return c->copy[v];
}

static ValueId whole_as_stored(Cast *c, ValueId v) {
    const Value whole = c->g->value[v];
    ValueId *part = NEW_ARRAY(c->g->pool, ValueId, whole.nparts);
    bool moved = false;
    for (int p = 0; p < whole.nparts; p++) {
        part[p] = as_stored(c, whole.part[p]);
        moved |= part[p] != whole.part[p];
    }
    return moved ? value_parts(c->g, part, whole.nparts, whole) : v;
}

static void cast_operands(Cast *c, Node *node) {
    ValueId *in = NEW_ARRAY(c->g->pool, ValueId, node->nin);
    for (int k = 0; k < node->nin; k++) {
        bool whole = node->in[k] >= 0 && c->g->value[node->in[k]].nparts > 0;
        in[k] = whole ? whole_as_stored(c, node->in[k]) : as_stored(c, node->in[k]);
    }
    node->in = in;
}

/* Walks the old list of nodes and appends each, with the casts it needs in front, to a new one. */
void cast_inputs(Program *program, const PlanOptions *options) {
    Graph *g = program->graph;
    Cast c = {g, NEW_ARRAY(g->pool, ValueId, g->nvalue), options->stored};
    const Node *old = g->node;
    int n = g->nnode;
    if (options->stored == options->staged && !program->prefetches)
        return;
    for (ValueId v = 0; v < g->nvalue; v++)
        c.copy[v] = -1;
    g->node = NULL;
    g->nnode = 0;
    for (int i = 0; i < n; i++) {
        Node node = old[i];
        if (!measures(node.op))
            cast_operands(&c, &node);
        node_new(g, node, node.in, node.out);
    }
}
