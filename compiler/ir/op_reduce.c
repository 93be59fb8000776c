/* op_reduce.c - operators that see many numbers at once: means and maxima over channels, means over parts
 * of the image, a softmax over its points, slices of the channels; and their gradients. */
#include "ir/rule_constants.h"
#include "ir/rule_fuse.h"
#include "ir/rule_gradient.h"

static void gradient_by_result(Autodiff *ad, const Node *node, Op op, const ValueId *dout, ValueId *din) {
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, op, node->a, dout, 1, &din[0], 1);
}

/* Every channel has the same share. */
void gradient_channel_mean(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_result(ad, node, OP_CHANNEL_MEAN_GRAD, dout, din);
}

/* The channel of the maximum is found again from x. */
void gradient_channel_max(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[2] = {node->in[0], dout[0]};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_CHANNEL_MAX_GRAD, node->a, in, 2, &din[0], 1);
}

void gradient_adaptive_avg_pool(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_by_result(ad, node, OP_ADAPTIVE_AVG_POOL_GRAD, dout, din);
}

void gradient_point_softmax(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[2] = {node->out[0], dout[0]};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_POINT_SOFTMAX_GRAD, node->a, in, 2, &din[0], 1);
}

/* Zeros, but for the channels that were sliced; fuse_add() joins it with the gradients of other slices. */
void gradient_slice(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[2] = {dout[0], -1};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_SLICE_GRAD, node->a, in, 2, &din[0], 1);
}

/* ---- constants ---- */

void constants_channels(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    call_rows(c, node->out[0]);
}

void constants_channels_grad(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "DY", node->in[node->nin - 1]);
    call_rows(c, node->out[0]);
}

void constants_adaptive_avg_pool(Constants *c, const Node *node) {
    constant_extents(c, "I", node->in[0]);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
}

void constants_adaptive_avg_pool_grad(Constants *c, const Node *node) {
    constant_extents(c, "I", node->out[0]);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
}

void constants_point_softmax(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
}

void constants_point_softmax_grad(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "Y", node->in[0]);
    constant_layout(c, "DY", node->in[1]);
}

void constants_slice_grad(Constants *c, const Node *node) {
    constant(c, "C0", node->a.slice.channel_begin);
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->out[0]);
    constant(c, "ACCUMULATE", node->in[1] >= 0);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
    constant_layout(c, "A", node->in[1] >= 0 ? node->in[1] : node->out[0]);
    call_rows(c, node->out[0]);
}
