/* op_loss.c - losses and metrics. */
#include "base/size_math.h"
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"

/* Every gradient starts here: by the prediction, of weight times the mean over all valid samples. */
static void gradient_of_loss(Autodiff *ad, const Node *node, ValueId *din, Op op) {
    const ValueId in[3] = {node->in[0], node->in[1], -1}; /* update.c knows whether it is scaled */
    if (!gradient_wanted(ad, node->in[0]))
        return;
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, op, node->a, in, 3, &din[0], 1);
}

void gradient_mse(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_loss(ad, node, din, OP_MSE_GRAD);
}

void gradient_l1(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_loss(ad, node, din, OP_L1_GRAD);
}

void gradient_charbonnier(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_loss(ad, node, din, OP_CHARBONNIER_GRAD);
}

void gradient_smooth_l1(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_loss(ad, node, din, OP_SMOOTH_L1_GRAD);
}

void gradient_ssim(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    (void)dout;
    gradient_of_loss(ad, node, din, OP_SSIM_LOSS_GRAD);
}

void gradient_psnr_loss(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[4] = {node->in[0], node->in[1], node->out[1], -1};
    (void)dout;
    if (!gradient_wanted(ad, node->in[0]))
        return;
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_PSNR_LOSS_GRAD, node->a, in, 4, &din[0], 1);
}

/* ---- windows of ssim ---- */

RowRange rows_ssim(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    (void)g, (void)node, (void)input, (void)axis;
    return (RowRange){out.begin - (SSIM_WINDOW - 1), out.end};
}

RowRange rows_ssim_grad(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    (void)g, (void)node, (void)input, (void)axis;
    return (RowRange){out.begin - (SSIM_WINDOW - 1), out.end + (SSIM_WINDOW - 1)};
}

/* Four means over each window, which are taken along columns, then along rows; the gradient takes three
 * more. */
int64_t flops_ssim(const Graph *g, const Node *node) {
    enum { MEANS = 4, SLOPES = 3, FLOPS = 2 * 2 * SSIM_WINDOW };
    const int64_t means = node->op == OP_SSIM_LOSS_GRAD ? MEANS + SLOPES : MEANS;
    return size_product(means * FLOPS, shape_elements(g->value[node->in[0]].shape));
}

/* ---- constants ---- */

static void loss_constants(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "P", node->in[0]);
    constant_layout(c, "T", node->in[1]);
    constant_staged(c, "P_STAGED", node->in[0]);
    constant_staged(c, "T_STAGED", node->in[1]);
    constant_real(c, "EPSILON", node->a.loss.epsilon);
    constant_real(c, "BETA", node->a.loss.beta);
    constant_real(c, "RANGE", node->a.loss.range);
}

static void sum_constants(Constants *c, const Node *node) {
    loss_constants(c, node);
    constant(c, "BANDS", node->a.loss.bands);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n", "valid");
}

void constants_loss(Constants *c, const Node *node) {
    sum_constants(c, node);
    call_rows(c, node->in[0]);
}

void constants_psnr_loss(Constants *c, const Node *node) {
    sum_constants(c, node);
    constant_layout(c, "ERRORS", node->out[1]);
}

static void slope_constants(Constants *c, const Node *node, ValueId scale) {
    loss_constants(c, node);
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant(c, "SUM_BANDS", node->a.loss.bands);
    constant_layout(c, "DP", node->out[0]);
    constant(c, "SCALED", scale >= 0);
    call_arguments(c, "n, step->n", "");
    call_rows(c, node->out[0]);
}

void constants_loss_grad(Constants *c, const Node *node) {
    slope_constants(c, node, node->in[2]);
}

void constants_psnr_loss_grad(Constants *c, const Node *node) {
    slope_constants(c, node, node->in[3]);
    constant_layout(c, "ERRORS", node->in[2]);
}
