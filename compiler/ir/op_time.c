/* op_time.c - what a network is told about time: sines and cosines of a number.
 *
 *     sinusoid   y[c] = sin(f[c] x), or cos(f[c] x)      dx = sum over c of f[c] cos(f[c] x) dy[c], or -sin
 */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

void gradient_sinusoid(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[2] = {node->in[0], dout[0]};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_SINUSOID_GRAD, node->a, in, 2, &din[0], 1);
}

/* The functions of the C library take about as much. */
int64_t flops_sinusoid(const Graph *g, const Node *node) {
    enum { FLOPS = 20 };
    const ValueId waves = node->op == OP_SINUSOID ? node->out[0] : node->in[1];
    return size_product(FLOPS, shape_elements(g->value[waves].shape));
}

static void wave_constants(Constants *c, const Node *node, ValueId waves) {
    constant_channels(c, "C", waves);
    constant_extents(c, "", waves);
    constant_layout(c, "X", node->in[0]);
    constant_staged(c, "X_STAGED", node->in[0]);
    constant(c, "COSINES_FIRST", node->a.values.cosines_first);
    constant_reals(c, "VALUES", node->a.values.value, node->a.values.count);
    call_rows(c, node->out[0]);
}

void constants_sinusoid(Constants *c, const Node *node) {
    wave_constants(c, node, node->out[0]);
    constant_layout(c, "Y", node->out[0]);
}

void constants_sinusoid_grad(Constants *c, const Node *node) {
    wave_constants(c, node, node->in[1]);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[1]);
}
