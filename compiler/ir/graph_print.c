/* graph_print.c - a graph as text, a line for each node: --emit=graph, and in pipeline.c after a pass. */
#include "base/text.h"
#include "ir/ops.h"

static void print_values(const Graph *g, const ValueId *value, int count, Text *out) {
    for (int k = 0; k < count; k++)
        if (value[k] >= 0)
            text_add(out, " %s[%s]", g->value[value[k]].name,
                     shape_text(g->pool, g->value[value[k]].shape));
}

void node_print(const Graph *g, NodeId id, Text *out) {
    const Node *node = &g->node[id];
    text_add(out, "%3d  line %-3d %-14s", id, node->span.line, op_table[node->op].name);
    print_values(g, node->in, node->nin, out);
    text_add(out, " ->");
    print_values(g, node->out, node->nout, out);
    text_add(out, "\n");
}

void graph_print(const Graph *g, Text *out) {
    for (NodeId i = 0; i < g->nnode; i++)
        node_print(g, i, out);
}
