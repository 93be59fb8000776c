/* graph_print.c - a graph as text, a line for each node: --emit=graph, and in pipeline.c after a pass.
 *
 * Behind the operator stands what was fused into it: conv+relu, max_pool_grad+add+mask; "+=" marks a node
 * that adds to its sums in a loop over samples.
 */
#include "base/text.h"
#include "ir/ops.h"

static void print_values(const Graph *g, const ValueId *value, int count, Text *out) {
    for (int k = 0; k < count; k++)
        if (value[k] >= 0)
            text_add(out, " %s[%s]", g->value[value[k]].name,
                     shape_text(g->pool, g->value[value[k]].shape));
}

/* "conv+relu" */
static const char *variant_text(Pool *pool, const Node *node) {
    const Attributes *a = &node->a;
    const bool conv = a->kind == ATTRIBUTES_CONV, pool_grad = a->kind == ATTRIBUTES_POOL;
    return pool_text(pool, "%s%s%s%s%s", op_table[node->op].name,
                     (pool_grad && a->pool.adds) || (conv && a->conv.adds) ? "+add" : "",
                     conv && a->conv.relu ? "+relu" : "",
                     (conv && a->conv.mask) || (pool_grad && a->pool.mask) ? "+mask" : "",
                     node->accumulates ? " +=" : "");
}

void node_print(const Graph *g, NodeId id, Text *out) {
    const Node *node = &g->node[id];
    text_add(out, "%3d  line %-3d %-22s", id, node->span.line, variant_text(g->pool, node));
    print_values(g, node->in, node->nin, out);
    text_add(out, " ->");
    print_values(g, node->out, node->nout, out);
    text_add(out, "\n");
}

void graph_print(const Graph *g, Text *out) {
    for (NodeId i = 0; i < g->nnode; i++)
        node_print(g, i, out);
}
