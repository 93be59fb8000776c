/* op_pool.c - max pooling. */
#include "autodiff.h"
#include "emit.h"
#include "plan.h"

/* The place of the maximum is found again from x, which most often is alive as a skip connection anyway; a
 * target may do better. */
void gradient_max_pool(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[3] = {node->in[0], dout[0], -1};
    din[0] = gradient_value(ad, node->in[0]);
    gradient_node(ad, node, OP_MAX_POOL_GRAD, (Attributes){.window = node->a.window}, in, 3, &din[0], 1);
}

static int64_t comparisons(const Graph *g, const Node *node, ValueId pooled) {
    const int64_t *k = node->a.window.kernel;
    return work_sum(0, work_sum(0, k[0], k[1] * k[2]), shape_elements(g->value[pooled].shape));
}

int64_t flops_pool(const Graph *g, const Node *node) {
    return comparisons(g, node, node->out[0]);
}

int64_t flops_pool_grad(const Graph *g, const Node *node) {
    return comparisons(g, node, node->in[1]);
}

/* X and Y: like what is pooled, and what it is pooled to. */
static void pool_constants(Constants *c, const Node *node, ValueId x, ValueId y) {
    static const char *const name[3][AXES] = {{"KD", "KH", "KW"}, {"SD", "SH", "SW"}, {"PD", "PH", "PW"}};
    const Window *w = &node->a.window;
    constant_channels(c, "C", x);
    constant_extents(c, "I", x);
    constant_extents(c, "", y);
    constant(c, "TAP_BITS", node->a.tap_bits);
    for (int k = 0; k < AXES; k++) {
        constant(c, name[0][k], w->kernel[k]);
        constant(c, name[1][k], w->stride[k]);
        constant(c, name[2][k], w->before[k]);
    }
}

void sizes_pool(Constants *c, const Node *node) {
    pool_constants(c, node, node->in[0], node->out[0]);
    constant_layout(c, "Y", node->out[0]);
    constant_layout(c, "X", node->in[0]);
}

void sizes_pool_grad(Constants *c, const Node *node) {
    pool_constants(c, node, node->out[0], node->in[1]);
    constant(c, "ACCUMULATE", node->a.accumulate);
    constant(c, "MASK", node->a.mask);
    constant_layout(c, "DX", node->out[0]);
    if (node->in[0] >= 0)
        constant_layout(c, "X", node->in[0]);
    constant_layout(c, "DY", node->in[1]);
    constant_layout(c, "A", node->a.accumulate ? node->in[2] : node->out[0]);
}
