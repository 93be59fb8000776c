/* op_join.c - concat for readers that cannot read parts, and slice, its gradient. */
#include "autodiff.h"
#include "emit.h"

void gradient_concat(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    Graph *g = gradient_graph(ad);
    const ValueId *leaf;
    int n = value_leaves(g, &node->in[0], &leaf);
    ValueId *part = NEW_ARRAY(g->pool, ValueId, n);
    int64_t first = 0;
    for (int p = 0; p < n; p++) {
        part[p] = -1;
        if (gradient_wanted(ad, leaf[p])) {
            part[p] = gradient_value(ad, leaf[p]);
            gradient_node(ad, node, OP_SLICE, (Attributes){.first = first}, dout, 1, &part[p], 1);
        }
        first += shape_channels(g->value[leaf[p]].shape);
    }
    din[0] = value_parts(g, part, n, g->value[node->in[0]]);
}

void sizes_concat(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_segments(c, "X", node->in[0]);
}

void sizes_slice(Constants *c, const Node *node) {
    constant(c, "C0", node->a.first);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
}
