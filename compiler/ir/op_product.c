/* op_product.c - products, quotients, differences and multiples of tensors, maxima of two, and their
 * gradients.
 *
 * Operands have one shape.  A smaller one is repeated first, and its gradient sums over what was repeated.
 * A factor may be smaller than the tensor that it is multiplied with: one number for each channel, or a map
 * of one channel.  The gradient by such a factor is a sum over all that it was multiplied with.
 */
#include "ir/ops.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

static Shape shape_of(const Graph *g, ValueId v) {
    return g->value[v].shape;
}

/* By the factor B of A: of one channel and one point it is a number for each channel, too. */
static Op gradient_by_factor(const Graph *g, ValueId a, ValueId b) {
    const Shape of_a = shape_of(g, a), of_b = shape_of(g, b);
    bool map = true;
    for (int axis = 0; axis < AXES; axis++)
        map &= shape_extent(of_a, axis) == shape_extent(of_b, axis);
    return map ? OP_MAP_FACTOR_GRAD : OP_CHANNEL_FACTOR_GRAD;
}

void gradient_multiply(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const Graph *g = gradient_graph(ad);
    const bool alike = shape_equal(shape_of(g, node->in[0]), shape_of(g, node->in[1]));
    for (int k = 0; k < 2; k++) {
        const ValueId in[2] = {dout[0], node->in[1 - k]};
        if (!gradient_wanted(ad, node->in[k]))
            continue;
        din[k] = gradient_value(ad, node->in[k]);
        const Op op = k == 0 || alike ? OP_MULTIPLY : gradient_by_factor(g, node->in[0], node->in[1]);
        const bool sums = op == OP_CHANNEL_FACTOR_GRAD;
        const ValueId out[] = {din[k], -1}; /* the target's scratch */
        gradient_node(ad, node, op, (Attributes){.kind = sums ? ATTRIBUTES_REDUCTION : ATTRIBUTES_NONE}, in,
                      2, out, sums ? 2 : 1);
    }
}

static ValueId gradient_affine_of(Autodiff *ad, const Node *node, ValueId in, ValueId dy, double factor) {
    const ValueId dx = gradient_value(ad, in);
    gradient_node(ad, node, OP_AFFINE, (Attributes){.kind = ATTRIBUTES_AFFINE, .affine.factor = factor},
                  &dy, 1, &dx, 1);
    return dx;
}

void gradient_affine(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    din[0] = gradient_affine_of(ad, node, node->in[0], dout[0], node->a.affine.factor);
}

void gradient_subtract(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    if (gradient_wanted(ad, node->in[0]))
        din[0] = dout[0];
    if (gradient_wanted(ad, node->in[1]))
        din[1] = gradient_affine_of(ad, node, node->in[1], dout[0], -1);
}

/* y = a / b: da = dy / b, db = -(dy y) / b. */
void gradient_divide(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const Attributes none = {.kind = ATTRIBUTES_NONE};
    const ValueId b = node->in[1];
    if (gradient_wanted(ad, node->in[0])) {
        const ValueId in[2] = {dout[0], b};
        din[0] = gradient_value(ad, node->in[0]);
        gradient_node(ad, node, OP_DIVIDE, none, in, 2, &din[0], 1);
    }
    if (!gradient_wanted(ad, b))
        return;
    const ValueId product = gradient_value(ad, b), quotient = gradient_value(ad, b);
    const ValueId factors[2] = {dout[0], node->out[0]}, parts[2] = {product, b};
    gradient_node(ad, node, OP_MULTIPLY, none, factors, 2, &product, 1);
    gradient_node(ad, node, OP_DIVIDE, none, parts, 2, &quotient, 1);
    din[1] = gradient_affine_of(ad, node, b, quotient, -1);
}

/* Each operand has a gradient; the operator of the gradient reads that operand first. */
void gradient_maximum(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    for (int k = 0; k < 2; k++) {
        const ValueId in[3] = {node->in[k], node->in[1 - k], dout[0]};
        if (!gradient_wanted(ad, node->in[k]))
            continue;
        din[k] = gradient_value(ad, node->in[k]);
        gradient_node(ad, node, OP_MAXIMUM_GRAD, node->a, in, 3, &din[k], 1);
    }
}

void gradient_repeat(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const Shape x = shape_of(gradient_graph(ad), node->in[0]),
                y = shape_of(gradient_graph(ad), node->out[0]);
    const bool rows = shape_extent(x, 0) == shape_extent(y, 0) && shape_extent(x, 1) == shape_extent(y, 1);
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, rows ? OP_REPEAT_ROW_GRAD : OP_REPEAT_GRAD, node->a, dout, 1, &din[0], 1);
}

/* ---- rows and constants ---- */

/* A factor for each channel has one row. */
RowRange rows_multiply(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const bool one = points_along(shape_of(g, node->in[input]), axis) == 1;
    return one ? rows_whole(g, node, input, axis, out) : out;
}

void constants_multiply(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_channels(c, "CB", node->in[1]);
    constant_extents(c, "", node->out[0]);
    constant_extents(c, "B", node->in[1]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "A", node->in[0]);
    constant_layout(c, "B", node->in[1]);
    call_rows(c, node->out[0]);
}

void constants_maximum(Constants *c, const Node *node) {
    constants_map(c, node);
    constant(c, "LARGER", node->a.map.parameter > 0);
}

/* The larger tensor has C, D, H and W, the smaller one the others. */
static void repeat_constants(Constants *c, const Node *node, ValueId large, ValueId small) {
    constant_channels(c, "C", large);
    constant_channels(c, "CB", small);
    constant_extents(c, "", large);
    constant_extents(c, "B", small);
    call_rows(c, node->out[0]);
}

void constants_repeat(Constants *c, const Node *node) {
    repeat_constants(c, node, node->out[0], node->in[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
}

void constants_repeat_grad(Constants *c, const Node *node) {
    repeat_constants(c, node, node->in[0], node->out[0]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
}

/* The extents of the tensor that is summed, of both sums. */
void constants_factor_grad(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "DB", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
    constant_layout(c, "A", node->in[1]);
    call_rows(c, node->out[0]);
}

void constants_channel_factor_grad(Constants *c, const Node *node) {
    constants_factor_grad(c, node);
    constant(c, "BANDS", node->a.reduction.bands);
}

void constants_affine(Constants *c, const Node *node) {
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
    constant_real(c, "TIMES", node->a.affine.factor);
    constant_real(c, "TERM", node->a.affine.term);
    call_rows(c, node->out[0]);
}
