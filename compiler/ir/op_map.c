/* op_map.c - operators that work point by point: relu and others like it, add, and their gradients. */
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"
#include "ir/rule_fuse.h"

#include <ctype.h>

/* GRADIENT reads y, not x: x need not be kept, and y may take its place. */
static void gradient_by_output(Autodiff *ad, const Node *node, Op gradient, ValueId dy, ValueId *dx) {
    const ValueId in[2] = {node->out[0], dy};
    *dx = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, gradient, node->a, in, 2, dx, 1);
}

void gradient_relu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_RELU_GRAD, dout[0], &din[0]);
}

/* Where the slope is not negative, y is positive exactly where x is. */
void gradient_leaky_relu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_LEAKY_RELU_GRAD, dout[0], &din[0]);
}

void gradient_sigmoid(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_output(ad, node, OP_SIGMOID_GRAD, dout[0], &din[0]);
}

/* Two points have the same y, so the gradient takes x. */
void gradient_silu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[2] = {node->in[0], dout[0]};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_SILU_GRAD, node->a, in, 2, &din[0], 1);
}

/* The gradient of a sum is the same for both sides: one value, read twice. */
void gradient_add(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    for (int k = 0; k < 2; k++)
        din[k] = gradient_wanted(ad, node->in[k]) ? dout[0] : -1;
}

int64_t flops_points(const Graph *g, const Node *node) {
    return shape_elements(g->value[node->in[0]].shape);
}

/* What a template calls the layout of an operand: the operand's name in capitals. */
static const char *layout_name(const Graph *g, const Operand *operand) {
    char *name = NEW_ARRAY(g->pool, char, operand->length + 1);
    for (int i = 0; i < operand->length; i++)
        name[i] = (char)toupper((unsigned char)operand->name[i]);
    return name;
}

/* All operands have one shape; only their halos may differ. */
void constants_map(Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    const Operands *row = &g->operands[node->op];
    bool batched = g->value[node->out[0]].per_sample;
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, layout_name(g, &row->out[0]), node->out[0]);
    for (int k = 0; k < node->nin; k++)
        constant_layout(c, layout_name(g, &row->in[k]), node->in[k]);
    call_rows(c, node->out[0]);
    constant(c, "PARAMETERS", !batched);
    if (!batched)
        call_arguments(c, "1", ""); /* parameters: one "sample" */
}

void constants_leaky_relu(Constants *c, const Node *node) {
    constants_map(c, node);
    constant_real(c, "SLOPE", node->a.map.parameter);
}

void constants_cast(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_staged(c, "X_STAGED", node->in[0]);
    call_rows(c, node->out[0]);
}

/* ---- fusion ---- */

void fuse_relu(Fuse *f, Node *relu) {
    Node *conv = fuse_only_for_one(f, relu->in[0]);
    if (conv == NULL || (conv->op != OP_CONV && conv->op != OP_UPCONV) || conv->a.conv.relu)
        return;
    conv->a.conv.relu = true;
    fuse_take_over(f, conv, relu);
}

void fuse_relu_grad(Fuse *f, Node *relu_grad) {
    Node *gradient = fuse_only_for_one(f, relu_grad->in[1]);
    ValueId y = relu_grad->in[0];
    if (gradient == NULL)
        return;
    if (gradient->op == OP_MAX_POOL_GRAD && gradient->in[0] == y && !gradient->a.pool.mask) {
        gradient->a.pool.mask = true;
        fuse_take_over(f, gradient, relu_grad);
    } else if (gradient->op == OP_HEAD && gradient->in[0] == y && !gradient->a.head.mask) {
        gradient->a.head.mask = true;
        fuse_take_over(f, gradient, relu_grad);
    } else if ((gradient->op == OP_CONV_DGRAD || gradient->op == OP_UPCONV_DGRAD) &&
               !gradient->a.conv.mask) {
        gradient->a.conv.mask = true;
        gradient->in[2] = y;
        fuse_take_over(f, gradient, relu_grad);
    }
}

/* The sum takes place where `add` stood, when both terms are there. */
void fuse_add(Fuse *f, Node *add) {
    for (int k = 1; k >= 0; k--) {
        Node *pool = fuse_only_for_one(f, add->in[k]);
        if (pool == NULL || pool->op != OP_MAX_POOL_GRAD || pool->a.pool.adds || pool->a.pool.mask)
            continue;
        Node fused = *pool;
        fused.a.pool.adds = true;
        fused.in[2] = add->in[1 - k];
        fused.out[0] = add->out[0];
        fuse_drop(f, pool);
        *add = fused;
        return;
    }
}
