/* op_attention.c - attention: the points of q ask the points of k, and get a mean of the points of v.
 * Channel c belongs to head c / (channels / heads).  For query i and key j of each head:
 *
 *     s = scale q_i k_j + b_ij        p = exp(s - lse_i), which add up to 1 over j        y_i = sum(p v_j)
 *
 * Nobody keeps p, which has a number for each pair of points: a gradient makes it again from `lse`, the
 * logarithm of the sum of exp(s) over j.
 *
 *     ds = p (dy_i v_j - dy_i y_i)        dq_i = scale sum(ds k_j)        dk_j = scale sum(ds q_i)
 *     dv_j = sum(p dy_i)
 *
 * A point sees the points of its own window alone.  Windows are cut of the map rolled by -shift; points on
 * different sides of its former ends do not see each other.  The bias b_ij is the channel of the head at a
 * point of b, and db is there the sum of ds over all pairs that share the point.  In a bias of differences
 * this is the difference of i and j in their window.  In a bias of pairs it is row i, column j; pairs of
 * the same places in several windows share it.
 */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

enum { Q, K, V, BIAS };

static ValueId bias_of(const Node *node, int number) {
    return number < node->nin ? node->in[number] : -1;
}

void gradient_attention(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId bias = bias_of(node, BIAS);
    const ValueId in[] = {node->in[Q], node->in[K], node->in[V], node->out[0], node->out[1], dout[0], bias};
    for (int k = Q; k <= V; k++)
        din[k] = gradient_value(ad, node->in[k]);
    const bool by_bias = bias >= 0 && gradient_wanted(ad, bias);
    if (by_bias)
        din[BIAS] = gradient_value(ad, bias);
    const ValueId out[] = {din[Q], din[K], din[V], by_bias ? din[BIAS] : -1, -1}; /* the target's scratch */
    gradient_node(ad, node, OP_ATTENTION_GRAD, node->a, in, 7, out, 5);
}

/* ---- cost ---- */

static int64_t window_extent(const Node *node, Shape map, int axis) {
    const int64_t extent = node->a.attention.window[axis];
    return extent > 0 ? extent : shape_extent(map, axis);
}

int64_t attention_window_points(const Node *node, Shape map) {
    int64_t points = 1;
    for (int axis = 0; axis < AXES; axis++)
        points *= window_extent(node, map, axis);
    return points;
}

int64_t window_multiple(const Node *node, int axis) {
    const int64_t extent = node->a.kind == ATTRIBUTES_ATTENTION ? node->a.attention.window[axis] : 0;
    return extent > 0 ? extent : 1;
}

static int64_t points_of(Shape shape) {
    return shape_elements(shape) / shape_channels(shape);
}

/* For each pair of points of a window so many products of the channels of q and of v, and of each head an
 * exponential function. */
static int64_t flops_of_pairs(const Graph *g, const Node *node, int64_t of_q, int64_t of_v) {
    enum { EXPONENTIAL = 20 };
    const Shape q = g->value[node->in[Q]].shape, v = g->value[node->in[V]].shape;
    const int64_t products = size_sum(size_product(2 * of_q, q.dim[0]), size_product(2 * of_v, v.dim[0]));
    const int64_t each = size_sum(products, EXPONENTIAL * node->a.attention.heads);
    const int64_t pairs = size_product(points_of(q), attention_window_points(node, v));
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

static void window_constants(Constants *c, const Node *node, const char *prefix, Shape map) {
    static const char *const letter[AXES] = {"D", "H", "W"};
    for (int axis = 0; axis < AXES; axis++)
        constant(c, pool_text(constants_graph(c)->pool, "%s_%s", prefix, letter[axis]),
                 window_extent(node, map, axis));
}

/* The extents of q are D, H, W, the extents of k and v ID, IH, IW; QUERY_D and KEY_D belong to a window. */
static void point_constants(Constants *c, const Node *node) {
    const AttentionAttributes *a = &node->a.attention;
    const Value *value = constants_graph(c)->value;
    const Shape q = value[node->in[Q]].shape, k = value[node->in[K]].shape;
    const int64_t queries = attention_window_points(node, q);
    constant_extents(c, "", node->in[Q]);
    constant_extents(c, "I", node->in[K]);
    window_constants(c, node, "QUERY", q);
    window_constants(c, node, "KEY", k);
    constant(c, "SHIFT_D", a->shift[0]);
    constant(c, "SHIFT_H", a->shift[1]);
    constant(c, "SHIFT_W", a->shift[2]);
    constant(c, "QUERIES", queries);
    constant(c, "KEYS", attention_window_points(node, k));
    constant(c, "WINDOWS", points_of(q) / queries);
}

static void operand_constants(Constants *c, const Node *node, ValueId lse, ValueId bias) {
    const AttentionAttributes *a = &node->a.attention;
    constant_channels(c, "C", node->in[Q]);
    constant_channels(c, "CV", node->in[V]);
    point_constants(c, node);
    constant(c, "HEADS", a->heads);
    constant(c, "CAUSAL", a->causal);
    constant(c, "SLOTS", a->slots);
    constant_real(c, "TIMES", a->scale);
    constant_layout(c, "QUERY", node->in[Q]);
    constant_layout(c, "KEY", node->in[K]);
    constant_layout(c, "VALUE", node->in[V]);
    constant_layout(c, "LSE", lse);
    constant(c, "BIAS", bias >= 0);
    constant(c, "PAIRS", a->pairs);
    const ValueId given = bias >= 0 ? bias : node->in[Q]; /* without a bias nobody asks how it lies */
    constant_extents(c, "B", given);
    constant_layout(c, "B", given);
}

void constants_attention(Constants *c, const Node *node) {
    const ValueId lse = node->out[1];
    operand_constants(c, node, lse < 0 ? node->out[0] : lse, bias_of(node, BIAS));
    constant_layout(c, "Y", node->out[0]);
}

void constants_attention_grad(Constants *c, const Node *node) {
    enum { Y = V + 1, LSE, DY, B };
    operand_constants(c, node, node->in[LSE], bias_of(node, B));
    constant_layout(c, "Y", node->in[Y]);
    constant_layout(c, "DY", node->in[DY]);
    constant_layout(c, "DQ", node->out[0]);
    constant_layout(c, "DK", node->out[1]);
    constant_layout(c, "DV", node->out[2]);
    constant_layout(c, "DB", node->out[3] >= 0 ? node->out[3] : node->out[0]);
    constant(c, "BANDS", node->a.attention.bands);
}
