/* op_map.c - operators that work point by point: relu, add and their gradients. */
#include "autodiff.h"
#include "emit.h"

void gradient_relu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[2] = {node->out[0], dout[0]};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_RELU_GRAD, (Attributes){0}, in, 2, &din[0], 1);
}

/* The gradient of a sum is the same for both sides: one value, read twice. */
void gradient_add(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    for (int k = 0; k < 2; k++)
        din[k] = gradient_wanted(ad, node->in[k]) ? dout[0] : -1;
}

int64_t flops_points(const Graph *g, const Node *node) {
    return shape_elements(g->value[node->in[0]].shape);
}

int64_t flops_none(const Graph *g, const Node *node) {
    (void)g, (void)node;
    return 0;
}

/* All operands have one shape; only their halos may differ. */
void sizes_map(Constants *c, const Node *node) {
    static const char *const names[][3] = {
        [OP_RELU] = {"Y", "X", NULL}, [OP_ADD] = {"Y", "A", "B"}, [OP_RELU_GRAD] = {"DX", "Y", "DY"}};
    const char *const *name = names[node->op];
    bool batched = constants_graph(c)->value[node->out[0]].per_sample;
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, name[0], node->out[0]);
    for (int k = 0; k < node->nin; k++)
        constant_layout(c, name[k + 1], node->in[k]);
    constant(c, "PARAMETERS", !batched);
    if (!batched)
        call_arguments(c, "1", ""); /* parameters: one "sample" */
}

void sizes_cast(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_staged(c, "X_STAGED", node->in[0]);
}

void sizes_none(Constants *c, const Node *node) {
    (void)c, (void)node;
}
