/* op_attention.c - attention: the points of q ask those of k, and get a mean of those of v.  Channel c
 * belongs to head c / (channels / heads).  For query i and key j of each head:
 *
 *     s = scale q_i k_j        p = exp(s - lse_i), which add up to 1 over j        y_i = sum(p v_j)
 *
 * Nobody keeps p, which has a number for each pair of points: a gradient makes it again from `lse`, the
 * logarithm of the sum of exp(s) over j.
 *
 *     ds = p (dy_i v_j - dy_i y_i)        dq_i = scale sum(ds k_j)        dk_j = scale sum(ds q_i)
 *     dv_j = sum(p dy_i)
 */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

enum { Q, K, V };

void gradient_attention(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId in[] = {node->in[Q], node->in[K], node->in[V], node->out[0], node->out[1], dout[0]};
    for (int k = Q; k <= V; k++)
        din[k] = gradient_value(ad, node->in[k]);
    const ValueId out[] = {din[Q], din[K], din[V], -1}; /* the target's scratch */
    gradient_node(ad, node, OP_ATTENTION_GRAD, node->a, in, 6, out, 4);
}

/* ---- cost ---- */

static int64_t points_of(Shape shape) {
    return shape_elements(shape) / shape_channels(shape);
}

/* For each pair of points so many products of the channels of q and of v, and of each head an exponential
 * function. */
static int64_t flops_of_pairs(const Graph *g, const Node *node, int64_t of_q, int64_t of_v) {
    enum { EXPONENTIAL = 20 };
    const Shape q = g->value[node->in[Q]].shape, v = g->value[node->in[V]].shape;
    const int64_t products = size_sum(size_product(2 * of_q, q.dim[0]), size_product(2 * of_v, v.dim[0]));
    const int64_t each = size_sum(products, EXPONENTIAL * node->a.attention.heads);
    const int64_t pairs = size_product(points_of(q), points_of(v));
    return size_product(node->a.attention.causal ? pairs / 2 : pairs, each);
}

int64_t flops_attention(const Graph *g, const Node *node) {
    return flops_of_pairs(g, node, 1, 1);
}

/* p is made twice: for dq, and for dk and dv. */
int64_t flops_attention_grad(const Graph *g, const Node *node) {
    return flops_of_pairs(g, node, 4, 3);
}

/* ---- constants ---- */

/* The extents of q are D, H, W, those of k and v ID, IH, IW. */
static void operand_constants(Constants *c, const Node *node, ValueId lse) {
    const AttentionAttributes *a = &node->a.attention;
    const Graph *g = constants_graph(c);
    constant_channels(c, "C", node->in[Q]);
    constant_channels(c, "CV", node->in[V]);
    constant_extents(c, "", node->in[Q]);
    constant_extents(c, "I", node->in[K]);
    constant(c, "QUERIES", points_of(g->value[node->in[Q]].shape));
    constant(c, "KEYS", points_of(g->value[node->in[K]].shape));
    constant(c, "HEADS", a->heads);
    constant(c, "CAUSAL", a->causal);
    constant(c, "SLOTS", a->slots);
    constant_real(c, "TIMES", a->scale);
    constant_layout(c, "QUERY", node->in[Q]);
    constant_layout(c, "KEY", node->in[K]);
    constant_layout(c, "VALUE", node->in[V]);
    constant_layout(c, "LSE", lse);
}

void constants_attention(Constants *c, const Node *node) {
    const ValueId lse = node->out[1]; /* where it is absent nobody asks how it lies */
    operand_constants(c, node, lse < 0 ? node->out[0] : lse);
    constant_layout(c, "Y", node->out[0]);
}

void constants_attention_grad(Constants *c, const Node *node) {
    enum { Y = V + 1, LSE, DY };
    operand_constants(c, node, node->in[LSE]);
    constant_layout(c, "Y", node->in[Y]);
    constant_layout(c, "DY", node->in[DY]);
    constant_layout(c, "DQ", node->out[0]);
    constant_layout(c, "DK", node->out[1]);
    constant_layout(c, "DV", node->out[2]);
}
