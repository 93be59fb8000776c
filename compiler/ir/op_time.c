/* op_time.c - diffusion: waves that tell a network the time, and the noise that trains it.
 *
 *     sinusoid   y[c] = sin(f[c] x), or cos(f[c] x)      dx = sum over c of f[c] cos(f[c] x) dy[c], or -sin
 *     diffuse    y = sqrt(a) x + sqrt(1 - a) e, or e, or sqrt(a) e - sqrt(1 - a) x, a by the time drawn
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

/* ---- diffusion ---- */

/* A normal number takes a logarithm, a root and a cosine. */
int64_t flops_diffuse(const Graph *g, const Node *node) {
    enum { FLOPS = 60 };
    return size_product(FLOPS, shape_elements(g->value[node->out[0]].shape));
}

/* The numbers of dropout are numbers of nodes, and so smaller. */
static void draw_constants(Constants *c, const Node *node) {
    enum { NUMBER = 1 << 30 };
    constant(c, "NUMBER", NUMBER);
    constant(c, "COUNT", node->a.diffusion.times);
    constant(c, "EVALUATION", node->a.diffusion.evaluates);
    constant_layout(c, "Y", node->out[0]);
    call_arguments(c, "n, start, step->step, step->seed", "");
}

void constants_diffuse(Constants *c, const Node *node) {
    const bool reads = node->in[0] >= 0;
    draw_constants(c, node);
    constant_channels(c, "C", node->out[0]);
    constant_extents(c, "", node->out[0]);
    constant_layout(c, "X", reads ? node->in[0] : node->out[0]);
    constant_staged(c, "X_STAGED", reads ? node->in[0] : node->out[0]);
    constant_staged(c, "Y_STAGED", node->out[0]);
    constant(c, "WHICH", node->a.diffusion.makes);
    constant_reals(c, "VALUES", node->a.diffusion.kept, node->a.diffusion.times);
    call_rows(c, node->out[0]);
}

void constants_diffuse_time(Constants *c, const Node *node) {
    const double *root = node->a.diffusion.root;
    draw_constants(c, node);
    constant_channels(c, "C", node->out[0]);
    constant(c, "WEIGHTED", root != NULL);
    constant_reals(c, "VALUES", root, root == NULL ? 0 : node->a.diffusion.times);
}
