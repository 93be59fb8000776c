/* op_channel_attention.c - attention over channels: each channel of q gets a mean of the channels of v.
 * Channel c belongs to head c / (channels / heads).  For channels i of q and j of k of each head, a sum
 * over the points, and t, which is the scale times the temperature of the head:
 *
 *     r_ij = sum(q_i k_j) a_i b_j        p_i = softmax(t r_i) over j        y_i = sum over j of p_ij v_j
 *
 * The factors a and b are 1, or 1 / max(length, 1e-12) of the channels of q and of k.  The method is the
 * cross-covariance attention of XCiT (El-Nouby et al., 2021) and of Restormer (Zamir et al., 2022).  The
 * gradients, with the tables r, a and b kept and p made again:
 *
 *     e_ij = dy_i v_j, a sum over the points        ds_ij = p_ij (e_ij - sum over j of p_ij e_ij)
 *     dr_ij = t ds_ij                               dt = sum(ds_ij r_ij)
 *     dq_i = sum over j of dr_ij a_i b_j k_j - a_i a_i q_i sum over j of dr_ij r_ij
 *     dk_j = sum over i of dr_ij a_i b_j q_i - b_j b_j k_j sum over i of dr_ij r_ij
 *     dv_j = sum over i of p_ij dy_i
 *
 * The second terms are absent where a and b are 1.
 *
 * Linear attention (Katharopoulos et al., 2020) has p_ij = t r_ij and ds_ij = e_ij.  With its values for q,
 * its keys for k and its queries for v it is y = (sum over points of v k) q, whose table does not grow with
 * the points.  v and y may have other points than q and k.
 */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/rule_gradient.h"

enum { Q, K, V, TEMPERATURE };

static ValueId temperature_of(const Node *node, int number) {
    return number < node->nin ? node->in[number] : -1;
}

void gradient_channel_attention(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId t = temperature_of(node, TEMPERATURE);
    const ValueId in[] = {node->in[Q], node->in[K], node->in[V], node->out[1], dout[0], t};
    for (int k = Q; k <= V; k++)
        din[k] = gradient_value(ad, node->in[k]);
    const bool by_temperature = t >= 0 && gradient_wanted(ad, t);
    if (by_temperature)
        din[TEMPERATURE] = gradient_value(ad, t);
    const ValueId out[] = {din[Q], din[K], din[V], by_temperature ? din[TEMPERATURE] : -1,
                           -1}; /* the target's scratch */
    gradient_node(ad, node, OP_CHANNEL_ATTENTION_GRAD, node->a, in, 6, out, 5);
}

/* ---- cost ---- */

/* Products of pairs of channels in one head, over all points. */
static int64_t flops_of_pairs(const Graph *g, const Node *node, ValueId y, int64_t times) {
    const Shape q = g->value[node->in[Q]].shape, k = g->value[node->in[K]].shape;
    return size_product(size_product(times, size_sum(shape_elements(q), shape_elements(g->value[y].shape))),
                        shape_channels(k) / node->a.attention.heads);
}

int64_t flops_channel_attention(const Graph *g, const Node *node) {
    return flops_of_pairs(g, node, node->out[0], 2);
}

int64_t flops_channel_attention_grad(const Graph *g, const Node *node) {
    enum { DY = V + 2 };
    return flops_of_pairs(g, node, node->in[DY], 4);
}

/* ---- constants ---- */

static void operand_constants(Constants *c, const Node *node, ValueId products, ValueId temperature) {
    const AttentionAttributes *a = &node->a.attention;
    constant_channels(c, "C", node->in[Q]);
    constant_channels(c, "CV", node->in[V]);
    constant_extents(c, "I", node->in[Q]);
    constant_extents(c, "", node->in[V]);
    constant(c, "HEADS", a->heads);
    constant(c, "SLOTS", a->slots);
    constant(c, "BANDS", a->bands);
    constant_real(c, "TIMES", a->scale);
    constant(c, "NORMALIZE", a->normalize);
    constant(c, "SOFTMAX", !a->linear);
    constant(c, "TEMPERED", temperature >= 0);
    constant_layout(c, "QUERY", node->in[Q]);
    constant_layout(c, "KEY", node->in[K]);
    constant_layout(c, "VALUE", node->in[V]);
    constant_layout(c, "PRODUCTS", products);
    constant_layout(c, "T", temperature >= 0 ? temperature : node->in[Q]); /* absent: nobody reads it */
}

void constants_channel_attention(Constants *c, const Node *node) {
    operand_constants(c, node, node->out[1], temperature_of(node, TEMPERATURE));
    constant_layout(c, "Y", node->out[0]);
}

void constants_channel_attention_grad(Constants *c, const Node *node) {
    enum { PRODUCTS = V + 1, DY, T };
    operand_constants(c, node, node->in[PRODUCTS], temperature_of(node, T));
    constant_layout(c, "DY", node->in[DY]);
    constant_layout(c, "DQ", node->out[0]);
    constant_layout(c, "DK", node->out[1]);
    constant_layout(c, "DV", node->out[2]);
    constant_layout(c, "DT", node->out[3] >= 0 ? node->out[3] : node->out[0]);
}
