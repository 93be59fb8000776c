/* op_runtime.c - what the runtime does between the steps: inputs that it loads into the arena, outputs that
 * it takes out of it. */
#include "ir/ops.h"

/* Does one of NODE[0..NNODE) read V? */
static bool is_read(const Graph *g, const Node *node, int nnode, ValueId v) {
    for (int i = 0; i < nnode; i++)
        if (node_reads(g, &node[i], v))
            return true;
    return false;
}

void load_value(Graph *g, ValueId v) {
    node_new(g, (Node){.op = OP_LOAD, .nout = 1, .name = g->value[v].name, .span = g->value[v].span}, NULL,
             &v);
}

void load_inputs(Graph *g, const Node *node, int nnode) {
    const ValueId all = g->nvalue;
    for (ValueId v = 0; v < all; v++)
        if (g->value[v].class == CLASS_STAGING && g->value[v].input >= 0 && is_read(g, node, nnode, v))
            load_value(g, v);
}

void store_value(Graph *g, ValueId v) {
    node_new(g, (Node){.op = OP_STORE, .nin = 1, .name = g->value[v].name, .span = g->value[v].span}, &v,
             NULL);
}
