/* op_head.c - the last convolution of a net with all that reads what it predicts: a loss, a metric, and the
 * gradients that begin there.
 *
 *     p = conv(x);  mse(p, t), psnr(p, t);  dp = mse_grad(p, t);  conv_wgrad(x, dp);  dx = conv_dgrad(dp)
 *
 * If nothing else needs p, and the window is a point, a kernel needs no more than a row of p at a time.
 */
#include "base/size_math.h"
#include "ir/rule_constants.h"
#include "ir/rule_fuse.h"

/* The nodes that become one with `conv_dgrad`; psnr may be NULL. */
typedef struct {
    Node *conv, *loss, *psnr, *slope, *wgrad;
} Parts;

static bool is_point(const Window *w) {
    bool point = true;
    for (int k = 0; k < AXES; k++)
        point &= w->kernel[k] == 1 && w->stride[k] == 1 && w->before[k] == 0 && w->after[k] == 0;
    return point;
}

/* The node that computes V, if it is an OP. */
static Node *made_by(const Graph *g, ValueId v, Op op) {
    Node *node = v >= 0 && g->value[v].producer >= 0 ? &g->node[g->value[v].producer] : NULL;
    return node != NULL && node->op == op ? node : NULL;
}

static Node *slope_of(const Graph *g, ValueId dp) {
    Node *mse = made_by(g, dp, OP_MSE_GRAD);
    return mse != NULL ? mse : made_by(g, dp, OP_L1_GRAD);
}

/* Takes NODE, which reads p or its gradient, into PARTS; false: it has no place there. */
static bool take_part(const Node *dgrad, Node *node, Parts *parts) {
    const Op loss = parts->slope->op == OP_MSE_GRAD ? OP_MSE : OP_L1;
    Node **place = node->op == loss            ? &parts->loss
                   : node->op == OP_PSNR       ? &parts->psnr
                   : node->op == OP_CONV_WGRAD ? &parts->wgrad
                                               : NULL;
    if (node == dgrad || node == parts->slope)
        return true;
    if (place == NULL || *place != NULL)
        return false;
    *place = node;
    return node->op == OP_CONV_WGRAD
               ? node->in[0] == parts->conv->in[0] && node->in[1] == dgrad->in[0]
               : node->in[0] == parts->slope->in[0] && node->in[1] == parts->slope->in[1];
}

/* The same of all that read V. */
static bool take_readers(const Fuse *f, const Node *dgrad, ValueId v, Parts *parts) {
    const NodeId *reader;
    const int count = fuse_readers(f, v, &reader);
    for (int i = 0; i < count; i++)
        if (!take_part(dgrad, &fuse_graph(f)->node[reader[i]], parts))
            return false;
    return true;
}

static bool find_parts(const Fuse *f, const Node *dgrad, Parts *parts) {
    const Graph *g = fuse_graph(f);
    const ValueId dp = dgrad->in[0];
    *parts = (Parts){.slope = slope_of(g, dp)};
    parts->conv = parts->slope == NULL ? NULL : made_by(g, parts->slope->in[0], OP_CONV);
    if (parts->conv == NULL || parts->conv->a.conv.relu || !is_point(&parts->conv->a.conv.window) ||
        g->value[parts->conv->in[0]].nsegments > 0)
        return false;
    if (!take_readers(f, dgrad, parts->slope->in[0], parts) || !take_readers(f, dgrad, dp, parts))
        return false;
    return parts->loss != NULL && parts->wgrad != NULL;
}

/* The last of the parts is where all that they need is there. */
void fuse_head(Fuse *f, Node *dgrad) {
    Graph *g = fuse_graph(f);
    Parts parts;
    if (!find_parts(f, dgrad, &parts))
        return;
    const Node *conv = parts.conv, *slope = parts.slope;
    ValueId in[] = {conv->in[0], slope->in[1], conv->in[1], conv->in[2], slope->in[2]},
            out[] = {dgrad->out[0], parts.loss->out[0], parts.psnr == NULL ? -1 : parts.psnr->out[0],
                     parts.wgrad->out[0], parts.wgrad->out[1]};
    const Attributes a = {.kind = ATTRIBUTES_HEAD,
                          .head = {.weight = slope->a.loss.weight, .absolute = slope->op == OP_L1_GRAD}};
    const Node head = {.op = OP_HEAD,
                       .in = in,
                       .nin = sizeof in / sizeof *in,
                       .out = out,
                       .nout = sizeof out / sizeof *out,
                       .a = a,
                       .name = conv->name,
                       .span = conv->span,
                       .via = conv->via};
    const Node *const part[] = {parts.conv, parts.loss, parts.psnr, parts.slope, parts.wgrad};
    if (!fuse_fits(f, &head))
        return;
    node_replace(g, dgrad, head);
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        if (part[k] != NULL)
            fuse_drop(f, part[k]);
}

/* The operations of the convolution and its two gradients. */
int64_t flops_head(const Graph *g, const Node *node) {
    const Shape x = g->value[node->in[0]].shape, weights = g->value[node->in[2]].shape;
    return work_sum(0, work_sum(0, 6, shape_elements(weights)), shape_elements(x) / shape_channels(x));
}

void constants_head(Constants *c, const Node *node) {
    const ValueId x = node->in[0], t = node->in[1];
    constant_channels(c, "CI", x);
    constant_channels(c, "CO", t);
    constant_extents(c, "", x);
    constant_layout(c, "X", x);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "T", t);
    constant_staged(c, "T_STAGED", t);
    constant_real(c, "WEIGHT", node->a.head.weight);
    constant(c, "ABSOLUTE", node->a.head.absolute);
    constant(c, "MASK", node->a.head.mask);
    constant(c, "PSNR", node->out[2] >= 0);
    constant(c, "BIAS", node->in[3] >= 0);
    constant(c, "SCALED", node->in[4] >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "n, step->n", "valid");
    call_rows(c, node->out[0]);
}
