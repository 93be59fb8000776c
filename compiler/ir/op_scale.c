/* op_scale.c - a weight for each channel, or one for all: a factor (scale), a slope below zero (prelu), a
 * tensor by itself (parameter), a row of a table (embedding); and normalisation of the channels of a point
 * (layer_norm), or of each group of them (normalize).
 *
 *     scale   y = w x + b                 dx = w dy                       dw = sum(x dy), db = sum(dy)
 *     prelu   y = x, where x > 0, or w x  dx = dy, where x > 0, or w dy   dw = sum(x dy) where x <= 0
 *
 * Nobody keeps the mean and the variance of a point: a gradient reads all its channels anyway.
 */
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

enum { X, W, B };

static void gradient_weights(Autodiff *ad, const Node *node, Op op, ValueId dy, ValueId *din) {
    const ValueId in[] = {node->in[X], dy};
    if (!gradient_wanted(ad, node->in[W]))
        return;
    din[W] = gradient_value(ad, node->in[W]);
    din[B] = node->nin > B && node->in[B] >= 0 ? gradient_value(ad, node->in[B]) : -1;
    const ValueId out[] = {din[W], din[B], -1}; /* the target's scratch */
    gradient_node(ad, node, op, (Attributes){.kind = ATTRIBUTES_REDUCTION}, in, 2, out, 3);
}

void gradient_scale(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_weights(ad, node, OP_SCALE_WGRAD, dout[0], din);
    if (!gradient_wanted(ad, node->in[X]))
        return;
    const ValueId in[] = {dout[0], node->in[W], -1};
    din[X] = gradient_value(ad, node->in[X]);
    gradient_node(ad, node, OP_SCALE, node->a, in, 3, &din[X], 1);
}

/* A slope may be negative, so that y does not tell the sign of x. */
void gradient_prelu(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_weights(ad, node, OP_PRELU_WGRAD, dout[0], din);
    if (!gradient_wanted(ad, node->in[X]))
        return;
    const ValueId in[] = {node->in[X], dout[0], node->in[W]};
    din[X] = gradient_value(ad, node->in[X]);
    gradient_node(ad, node, OP_PRELU_GRAD, node->a, in, 3, &din[X], 1);
}

void gradient_layer_norm(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[] = {node->in[X], dout[0]};
    din[X] = gradient_value(ad, node->in[X]);
    gradient_node(ad, node, OP_LAYER_NORM_GRAD, node->a, in, 2, &din[X], 1);
}

/* With r = 1 / length:  dx = r dy - x r^3 sum(x dy), over a group; with r = 1 / the root of the mean square
 * the sum is a mean.  If the length is below epsilon, dx = dy / epsilon. */
void gradient_normalize(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[] = {node->in[X], dout[0]};
    din[X] = gradient_value(ad, node->in[X]);
    gradient_node(ad, node, OP_NORMALIZE_GRAD, node->a, in, 2, &din[X], 1);
}

/* All samples have the same y. */
void gradient_parameter(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    if (!gradient_wanted(ad, node->in[0]))
        return;
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_PARAMETER_GRAD, (Attributes){0}, dout, 1, &din[0], 1);
}

/* The numbers of rows have no gradient. */
void gradient_embedding(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[] = {node->in[X], dout[0]};
    if (!gradient_wanted(ad, node->in[W]))
        return;
    din[W] = gradient_value(ad, node->in[W]);
    gradient_node(ad, node, OP_EMBEDDING_WGRAD, (Attributes){0}, in, 2, &din[W], 1);
}

int64_t named_rows(const Graph *g, const Node *node) {
    const bool made = node->op == OP_EMBEDDING && g->value[node->in[X]].class != CLASS_STAGING;
    return made ? g->value[node->in[W]].shape.dim[0] : 0;
}

/* One operation for each number of all rows that are read. */
int64_t flops_embedding(const Graph *g, const Node *node) {
    return shape_elements(g->value[node->op == OP_EMBEDDING ? node->out[0] : node->in[1]].shape);
}

int64_t flops_points_of_input(const Graph *g, const Node *node) {
    return shape_elements(g->value[node->in[0]].shape);
}

/* ---- constants ---- */

/* X: a tensor of the shape of all. */
static void shape_constants(Constants *c, ValueId x) {
    constant_channels(c, "C", x);
    constant_extents(c, "", x);
    constant_layout(c, "X", x);
}

/* A weight of the only channel is none that channels share. */
static void weight_constants(Constants *c, ValueId x, ValueId w, bool slopes) {
    const Value *value = constants_graph(c)->value;
    constant(c, "SHARED", w >= 0 && shape_elements(value[w].shape) < shape_channels(value[x].shape));
    constant(c, "BELOW_ZERO", slopes);
}

void constants_scale(Constants *c, const Node *node) {
    shape_constants(c, node->in[X]);
    constant_layout(c, "Y", node->out[0]);
    weight_constants(c, node->in[X], node->in[W], node->op == OP_PRELU);
    constant(c, "BIAS", node->nin > B && node->in[B] >= 0);
    call_rows(c, node->out[0]);
}

void constants_scale_grad(Constants *c, const Node *node) {
    shape_constants(c, node->in[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[1]);
    weight_constants(c, node->in[0], node->in[2], true);
    call_rows(c, node->out[0]);
}

void constants_scale_wgrad(Constants *c, const Node *node) {
    shape_constants(c, node->in[0]);
    constant_layout(c, "DY", node->in[1]);
    weight_constants(c, node->in[0], node->out[0], node->op == OP_PRELU_WGRAD);
    constant(c, "BIAS", node->out[1] >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
    constant(c, "BANDS", node->a.reduction.bands);
}

/* A normalisation and its gradient, which is the one with a second operand. */
void constants_layer_norm(Constants *c, const Node *node) {
    const bool backward = node->nin > 1;
    shape_constants(c, node->in[0]);
    constant_layout(c, backward ? "DX" : "Y", node->out[0]);
    if (backward)
        constant_layout(c, "DY", node->in[1]);
    constant_real(c, "EPSILON", node->a.norm.epsilon);
    call_rows(c, node->out[0]);
}

void constants_normalize(Constants *c, const Node *node) {
    constants_layer_norm(c, node);
    constant(c, "GROUPS", node->a.norm.groups);
    constant(c, "RMS", node->a.norm.root_mean);
}

static void point_constants(Constants *c, ValueId y) {
    constant_channels(c, "C", y);
    constant_extents(c, "", y);
    constant_layout(c, "Y", y);
}

/* A table has a row for each point; any other weight has the axes of y, or the axis of channels alone. */
static bool is_table(const Graph *g, ValueId w) {
    return g->value[w].shape.rank == 2;
}

void constants_parameter(Constants *c, const Node *node) {
    point_constants(c, node->out[0]);
    constant(c, "BY_POINT", is_table(constants_graph(c), node->in[0]));
}

void constants_constant(Constants *c, const Node *node) {
    point_constants(c, node->out[0]);
    constant_reals(c, "VALUES", node->a.values.value, node->a.values.count);
}

void constants_parameter_grad(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "DY", node->in[0]);
    constant(c, "BY_POINT", is_table(constants_graph(c), node->out[0]));
    constant(c, "ACCUMULATE", node->accumulates);
}

static void embedding_constants(Constants *c, ValueId x, ValueId y, ValueId w, const char *layout) {
    constant_channels(c, "C", y);
    constant_extents(c, "", y);
    constant_layout(c, "X", x);
    constant_staged(c, "X_STAGED", x);
    constant_layout(c, layout, y);
    constant(c, "COUNT", constants_graph(c)->value[w].shape.dim[0]);
}

void constants_embedding(Constants *c, const Node *node) {
    embedding_constants(c, node->in[X], node->out[0], node->in[W], "Y");
    call_rows(c, node->out[0]);
}

void constants_embedding_wgrad(Constants *c, const Node *node) {
    embedding_constants(c, node->in[0], node->in[1], node->out[0], "DY");
    constant(c, "ACCUMULATE", node->accumulates);
}
