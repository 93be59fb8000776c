/* op_vocabulary.c - the loss of a language model: cross entropy of `linear(x, words)` and the number of a
 * word at each point.
 *
 *     z_j = w_j x + b_j        lse = log(sum_j exp(z_j))        loss = mean(lse - z_t), t being the number
 *     dz_j = (exp(z_j - lse) - (j == t)) / points        dx = sum_j(dz_j w_j)        dw_j = sum(dz_j x)
 *
 * z has a number for each point and each word, and is larger than all other tensors of such a network
 * together.  So nobody keeps z: the loss makes some words at a time, and the gradient makes them again.
 * Points whose number is negative do not count, and kernels leave them out.
 */
#include "base/size_math.h"
#include "ir/labels.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

enum { X, TRUTH, W, B };                                  /* the loss reads */
enum { GRADIENT_LSE = 2, GRADIENT_W, GRADIENT_B, SCALE }; /* its gradient reads behind X and TRUTH */

static ValueId bias_of(const Node *node, int number) {
    return number < node->nin ? node->in[number] : -1;
}

static ValueId wanted(Autodiff *ad, ValueId v) {
    return v >= 0 && gradient_wanted(ad, v) ? gradient_value(ad, v) : -1;
}

void gradient_vocabulary_loss(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId bias = bias_of(node, B);
    /* update.c knows whether the loss is scaled */
    const ValueId in[] = {node->in[X], node->in[TRUTH], node->out[1], node->in[W], bias, -1};
    (void)dout;
    din[X] = wanted(ad, node->in[X]);
    din[W] = wanted(ad, node->in[W]);
    if (bias >= 0)
        din[B] = wanted(ad, bias);
    const ValueId out[] = {din[X], din[W], bias >= 0 ? din[B] : -1, -1}; /* the target's scratch */
    if (din[X] >= 0 || din[W] >= 0 || out[2] >= 0)
        gradient_node(ad, node, OP_VOCABULARY_LOSS_GRAD, node->a, in, 6, out, 4);
}

/* The sums of products for the logits of all points; for the gradient again, for dx and for dw. */
int64_t flops_vocabulary(const Graph *g, const Node *node) {
    enum { EXPONENTIAL = 20 };
    const bool backward = node->op == OP_VOCABULARY_LOSS_GRAD;
    const Shape x = g->value[node->in[X]].shape, w = g->value[node->in[backward ? GRADIENT_W : W]].shape;
    const int64_t points = shape_elements(x) / shape_channels(x), logits = size_product(points, w.dim[0]),
                  each = size_sum(size_product(backward ? 6 : 2, shape_channels(x)), EXPONENTIAL);
    return size_product(logits, each);
}

/* ---- constants ---- */

static void shared_constants(Constants *c, const Node *node, ValueId lse, ValueId w, ValueId b) {
    constant_channels(c, "C", node->in[X]);
    constant_extents(c, "", node->in[X]);
    constant_layout(c, "X", node->in[X]);
    constant_layout(c, "T", node->in[TRUTH]);
    constant_staged(c, "T_STAGED", node->in[TRUTH]);
    constant_layout(c, "LSE", lse);
    constant(c, "CLASSES", constants_graph(c)->value[w].shape.dim[0]);
    constant(c, "BIAS", b >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
}

/* "labelled[0]": the points of the batch that count, on targets where steps are functions. */
static const char *counted(const Constants *c, const Node *node) {
    const Graph *g = constants_graph(c);
    return pool_text(g->pool, "labelled[%d]", label_count_of(g, node));
}

void constants_vocabulary_loss(Constants *c, const Node *node) {
    const ValueId lse = node->nout > 1 ? node->out[1] : -1;
    shared_constants(c, node, lse < 0 ? node->in[X] : lse, node->in[W], bias_of(node, B));
    constant(c, "LEARNT", lse >= 0);
    constant(c, "RIGHT", node->op == OP_VOCABULARY_ACCURACY);
    constant(c, "COUNTED", label_count_of(constants_graph(c), node));
    call_arguments(c, "n, step->n", counted(c, node));
}

void constants_vocabulary_loss_grad(Constants *c, const Node *node) {
    shared_constants(c, node, node->in[GRADIENT_LSE], node->in[GRADIENT_W], node->in[GRADIENT_B]);
    constant(c, "COUNTED", label_count_of(constants_graph(c), node));
    constant_real(c, "WEIGHT", node->a.loss.weight);
    constant(c, "SCALED", node->in[SCALE] >= 0);
    constant_layout(c, "DX", node->out[0] >= 0 ? node->out[0] : node->in[X]);
    constant(c, "BY_INPUT", node->out[0] >= 0);
    constant(c, "BY_WEIGHT", node->out[1] >= 0);
    constant(c, "BY_BIAS", node->out[2] >= 0);
    call_arguments(c, "n", counted(c, node));
}
