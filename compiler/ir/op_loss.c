/* op_loss.c - losses and metrics. */
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

static void loss_constants(Constants *c, const Node *node) {
    constant_channels(c, "C", node->in[0]);
    constant_extents(c, "", node->in[0]);
    constant_layout(c, "P", node->in[0]);
    constant_layout(c, "T", node->in[1]);
    constant_staged(c, "P_STAGED", node->in[0]);
    constant_staged(c, "T_STAGED", node->in[1]);
    constant_real(c, "EPSILON", node->a.loss.epsilon);
}

void constants_loss(Constants *c, const Node *node) {
    loss_constants(c, node);
    constant(c, "BANDS", node->a.loss.bands);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n", "valid");
    call_rows(c, node->in[0]);
}

void constants_loss_grad(Constants *c, const Node *node) {
    loss_constants(c, node);
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant_layout(c, "DP", node->out[0]);
    constant(c, "SCALED", node->in[2] >= 0);
    call_arguments(c, "n, step->n", "");
    call_rows(c, node->out[0]);
}
