/* op_join.c - concat for readers that cannot read segments, and slice, its gradient. */
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"

void gradient_concat(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    Graph *g = gradient_graph(ad);
    const ValueId *segment;
    int n = value_segments(g, &node->in[0], &segment);
    ValueId *part = NEW_ARRAY(g->pool, ValueId, n);
    int64_t first = 0;
    for (int p = 0; p < n; p++) {
        part[p] = -1;
        if (gradient_wanted(ad, segment[p])) {
            const Attributes a = {.kind = ATTRIBUTES_SLICE, .slice.channel_begin = first};
            part[p] = gradient_value(ad, segment[p]);
            gradient_node(ad, node, OP_SLICE, a, dout, 1, &part[p], 1);
        }
        first += shape_channels(g->value[segment[p]].shape);
    }
    din[0] = value_concat_like(g, part, n, g->value[node->in[0]]);
}

void constants_concat(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_segments(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}

void constants_slice(Constants *c, const Node *node) {
    constant(c, "C0", node->a.slice.channel_begin);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}
