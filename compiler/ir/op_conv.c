/* op_conv.c - convolution and transposed convolution: gradients, cost, halo, constants.
 *
 * One window joins two grids of points, a dense one (the input of a convolution, the output of a transposed
 * one) and a sampled one: point s of the sampled grid meets the points s * stride - before + k * dilation
 * of the dense one.  All six operators are loops over these pairs; see templates/README.md for the letters.
 */
#include "base/size_math.h"
#include "ir/rule_gradient.h"
#include "ir/rule_constants.h"
#include "ir/plan.h"

static int64_t points(const Graph *g, ValueId v) {
    Shape s = g->value[v].shape;
    return shape_extent(s, 0) * shape_extent(s, 1) * shape_extent(s, 2);
}

static int64_t channels(const Graph *g, ValueId v) {
    return shape_channels(g->value[v].shape);
}

/* ---- gradients ---- */

/* One node for each segment of x, so that the gradient of each can be computed, and die, by itself. */
static ValueId gradient_by_input(Autodiff *ad, const Node *node, Op op, ValueId dy) {
    Graph *g = gradient_graph(ad);
    const ValueId *segment;
    int n = value_segments(g, &node->in[0], &segment);
    ValueId *dx = NEW_ARRAY(g->pool, ValueId, n);
    int64_t first = 0, all = channels(g, node->in[0]);
    for (int p = 0; p < n; p++) {
        int64_t count = channels(g, segment[p]);
        dx[p] = -1;
        if (gradient_wanted(ad, segment[p])) {
            Attributes a = {
                .kind = ATTRIBUTES_CONV,
                .conv = {.window = node->a.conv.window, .channel_begin = first, .channels = all}};
            const ValueId in[3] = {dy, node->in[1], -1};
            dx[p] = gradient_value(ad, segment[p]);
            gradient_node(ad, node, op, a, in, 3, &dx[p], 1);
        }
        first += count;
    }
    return n == 1 ? dx[0] : value_concat_like(g, dx, n, g->value[node->in[0]]);
}

/* By weights and bias, which are frozen together. NOUT: 3 with room for the target's scratch, else 2. */
static void gradient_by_weights(Autodiff *ad, const Node *node, Op op, Attributes a, ValueId dy,
                                ValueId *din, int nout) {
    const ValueId w = node->in[1], b = node->in[2], in[2] = {node->in[0], dy};
    if (!gradient_wanted(ad, w))
        return;
    din[1] = gradient_value(ad, w);
    din[2] = b >= 0 ? gradient_value(ad, b) : -1;
    const ValueId out[] = {din[1], din[2], -1};
    gradient_node(ad, node, op, a, in, 2, out, nout);
}

static void gradient_of_convolution(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din,
                                    Op dgrad, Op wgrad) {
    const Attributes a = {.kind = ATTRIBUTES_CONV, .conv.window = node->a.conv.window};
    gradient_by_weights(ad, node, wgrad, a, dout[0], din, 2);
    if (gradient_wanted(ad, node->in[0]))
        din[0] = gradient_by_input(ad, node, dgrad, dout[0]);
}

void gradient_conv(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_of_convolution(ad, node, dout, din, OP_CONV_DGRAD, OP_CONV_WGRAD);
}

void gradient_upconv(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    gradient_of_convolution(ad, node, dout, din, OP_UPCONV_DGRAD, OP_UPCONV_WGRAD);
}

void gradient_conv_groups(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId x = node->in[0], dgrad_in[3] = {dout[0], node->in[1], -1};
    gradient_by_weights(ad, node, OP_CONV_GROUPS_WGRAD, node->a, dout[0], din, 3);
    if (!gradient_wanted(ad, x))
        return;
    din[0] = gradient_value(ad, x);
    gradient_node(ad, node, OP_CONV_GROUPS_DGRAD, node->a, dgrad_in, 3, &din[0], 1);
}

/* By the bias: the sums of dy alone. */
static void gradient_of_shift(Autodiff *ad, const Node *node, ValueId dy, ValueId db) {
    const ValueId in[2] = {dy, dy}, out[3] = {-1, db, -1}; /* the target's scratch */
    gradient_node(ad, node, OP_SCALE_WGRAD, (Attributes){.kind = ATTRIBUTES_REDUCTION}, in, 2, out, 3);
}

/* Its window slides over y.  So a convolution of dy gives dx, and x and dy change places for the weights.
 */
void gradient_upconv_groups(Autodiff *ad, const Node *node, const ValueId *dout, ValueId *din) {
    const ValueId x = node->in[0], w = node->in[1], b = node->in[2];
    if (gradient_wanted(ad, w)) {
        const ValueId wgrad_in[2] = {dout[0], x};
        const ValueId wgrad_out[3] = {gradient_value(ad, w), -1, -1}; /* the target's scratch */
        din[1] = wgrad_out[0];
        gradient_node(ad, node, OP_CONV_GROUPS_WGRAD, node->a, wgrad_in, 2, wgrad_out, 3);
        din[2] = b >= 0 ? gradient_value(ad, b) : -1;
        if (b >= 0)
            gradient_of_shift(ad, node, dout[0], din[2]);
    }
    if (!gradient_wanted(ad, x))
        return;
    const ValueId dgrad_in[3] = {dout[0], w, -1};
    din[0] = gradient_value(ad, x);
    gradient_node(ad, node, OP_CONV_GROUPS, node->a, dgrad_in, 3, &din[0], 1);
}

/* ---- cost ---- */

/* Multiply and add for each pair of channels, each tap, each point of the sampled grid; at most INT64_MAX.
 */
static int64_t flops(const Graph *g, const Node *node, ValueId sampled, int64_t a, int64_t b) {
    const int64_t factor[] = {a, b, window_taps(&node->a.conv.window), points(g, sampled)};
    int64_t product = 2;
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++)
        product = work_sum(0, product, factor[k]);
    return product;
}

/* The maxima of 2x2 points of the output, or -1. */
static ValueId pooled_output(const Node *node) {
    return node->nout > 2 ? node->out[2] : -1;
}

int64_t flops_conv(const Graph *g, const Node *node) {
    const ValueId pooled = pooled_output(node);
    const int64_t comparisons = pooled < 0 ? 0 : work_sum(0, 4, shape_elements(g->value[pooled].shape));
    return work_sum(comparisons, 1,
                    flops(g, node, node->out[0], channels(g, node->in[0]), channels(g, node->out[0])));
}

int64_t flops_upconv(const Graph *g, const Node *node) {
    return flops(g, node, node->in[0], channels(g, node->in[0]), channels(g, node->out[0]));
}

int64_t flops_conv_dgrad(const Graph *g, const Node *node) {
    return flops(g, node, node->in[0], channels(g, node->in[0]), channels(g, node->out[0]));
}

int64_t flops_upconv_dgrad(const Graph *g, const Node *node) {
    return flops(g, node, node->out[0], channels(g, node->in[0]), channels(g, node->out[0]));
}

int64_t flops_conv_wgrad(const Graph *g, const Node *node) {
    return flops(g, node, node->in[1], channels(g, node->in[0]), channels(g, node->in[1]));
}

int64_t flops_upconv_wgrad(const Graph *g, const Node *node) {
    return flops(g, node, node->in[0], channels(g, node->in[0]), channels(g, node->in[1]));
}

/* Each channel meets the channels of its own group on the other side. */
static int64_t flops_of_groups(const Graph *g, const Node *node, ValueId x, ValueId y) {
    return flops(g, node, y, channels(g, x) / node->a.conv.groups, channels(g, y));
}

int64_t flops_conv_groups(const Graph *g, const Node *node) {
    return flops_of_groups(g, node, node->in[0], node->out[0]);
}

int64_t flops_conv_groups_dgrad(const Graph *g, const Node *node) {
    return flops_of_groups(g, node, node->out[0], node->in[0]);
}

int64_t flops_conv_groups_wgrad(const Graph *g, const Node *node) {
    return flops_of_groups(g, node, node->in[0], node->in[1]);
}

/* ---- halo ---- */

static int64_t at_least_zero(int64_t x) {
    return x > 0 ? x : 0;
}

/* The window slides over input INPUT, the dense grid; `sampled` has a point for each of its positions. */
void halo_sliding(const Graph *g, const Node *node, int input, int64_t before[AXES], int64_t after[AXES]) {
    int dense_input = node->op == OP_UPCONV_WGRAD ? 1 : 0;
    ValueId sampled = node->op == OP_UPCONV_DGRAD   ? node->out[0]
                      : node->op == OP_UPCONV_WGRAD ? node->in[0]
                      : node->op == OP_CONV_WGRAD   ? node->in[1]
                                                    : node->out[0];
    if (input != dense_input)
        return;
    const Window *w = &node->a.conv.window;
    for (int k = 0; k < AXES; k++) {
        int64_t positions = shape_extent(g->value[sampled].shape, k);
        int64_t size = shape_extent(g->value[node->in[input]].shape, k);
        int64_t last = (positions - 1) * w->stride[k] - w->before[k] + (w->kernel[k] - 1) * w->dilation[k];
        before[k] = w->before[k];
        after[k] = at_least_zero(last - (size - 1));
    }
}

/* Input 0 is the sampled grid: a point p of the dense output meets (p + before - k * dilation) / stride. */
void halo_transposed(const Graph *g, const Node *node, int input, int64_t before[AXES],
                     int64_t after[AXES]) {
    if (input != 0)
        return;
    const Window *w = &node->a.conv.window;
    for (int k = 0; k < AXES; k++) {
        int64_t dense = shape_extent(g->value[node->out[0]].shape, k);
        int64_t size = shape_extent(g->value[node->in[0]].shape, k);
        int64_t first = (w->kernel[k] - 1) * w->dilation[k] - w->before[k];
        int64_t last = (dense - 1 + w->before[k]) / w->stride[k];
        before[k] = at_least_zero(first) / w->stride[k];
        after[k] = at_least_zero(last - (size - 1));
    }
}

/* ---- rows ---- */

/* The grid is number 0; a mask is read where it passes, weights are read whole. */
static RowRange other_rows(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    return g->value[node->in[input]].per_sample ? out : rows_whole(g, node, input, axis, out);
}

RowRange rows_sliding(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    return input == 0 ? rows_window(g, node, input, axis, out) : other_rows(g, node, input, axis, out);
}

RowRange rows_transposed(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    return input == 0 ? rows_pooled(g, node, input, axis, out) : other_rows(g, node, input, axis, out);
}

/* OUT are positions of the window, points of one input.  The bias of a transposed convolution also sums
 * over points of the other input that no window meets: a position has the points up to the next position.
 */
RowRange rows_positions(const Graph *g, const Node *node, int input, int axis, RowRange out) {
    const bool transposed = node->op == OP_UPCONV_WGRAD;
    if (input != (transposed ? 1 : 0))
        return out;
    RowRange met = rows_window(g, node, input, axis, out);
    const Window *w = &node->a.conv.window;
    const bool last = out.end == shape_rows(g->value[node->in[1 - input]].shape);
    const int64_t summed =
        last ? shape_rows(g->value[node->in[input]].shape) : out.end * w->stride[1] - w->before[1];
    if (transposed && summed > met.end)
        met.end = summed;
    return met;
}

/* ---- constants ---- */

static void window_constants(Constants *c, const Window *w) {
    static const char *const name[4][AXES] = {
        {"KD", "KH", "KW"}, {"SD", "SH", "SW"}, {"LD", "LH", "LW"}, {"PD", "PH", "PW"}};
    for (int k = 0; k < AXES; k++) {
        constant(c, name[0][k], w->kernel[k]);
        constant(c, name[1][k], w->stride[k]);
        constant(c, name[2][k], w->dilation[k]);
        constant(c, name[3][k], w->before[k]);
    }
}

/* Kernels for vectors compute rows in tiles of 6 or 8 points, or twice as many, which end together after
 * TILED points.  Such a kernel is compiled for the points that are left over: W % TILED tells how many. */
enum { TILED = 48 };

/* For a width W or IW: W_OVER, of W points; W_PHASE_OVER, of every stride-th point; W_MORE, how many of
 * these phases have a point more. */
static void width_constants(Constants *c, const char *over, const char *phase_over, const char *more,
                            ValueId v, int64_t stride) {
    const Value *value = &constants_graph(c)->value[v];
    const int64_t width = value->per_sample ? shape_extent(value->shape, AXES - 1) : 1;
    constant(c, over, width % TILED);
    constant(c, phase_over, width / stride % TILED);
    constant(c, more, width % stride);
    constant(c, "TILED", TILED);
}

/* Forward input x and output y, whatever they are to this node. */
static void grid_constants(Constants *c, const Node *node, int64_t in_channels, ValueId x, ValueId y) {
    constant(c, "CI", in_channels);
    constant(c, "CO", channels(constants_graph(c), y));
    constant_like(c, "CO_LIKE", y);
    constant_extents(c, "I", x);
    constant_extents(c, "", y);
    window_constants(c, &node->a.conv.window);
    width_constants(c, "IW_OVER", "IW_PHASE_OVER", "IW_MORE", x, node->a.conv.window.stride[AXES - 1]);
    width_constants(c, "W_OVER", "W_PHASE_OVER", "W_MORE", y, node->a.conv.window.stride[AXES - 1]);
}

/* How the target shares out the work by Winograd's method. */
static void winograd_constants(Constants *c, const Node *node) {
    constant(c, "TILES", node->a.conv.tiles);
    constant(c, "OWN_BLOCKS", node->a.conv.own_blocks);
    constant(c, "PLANES", node->a.conv.planes);
    constant(c, "PHASE", node->a.conv.phase);
}

/* The operands of a convolution, or of what packs weights for one. */
static void forward_operands(Constants *c, ValueId x, ValueId y) {
    constant_segments(c, "X", x);
    constant_layout(c, "Y", y);
}

void constants_conv(Constants *c, const Node *node) {
    const ValueId x = node->in[0], y = node->out[0];
    grid_constants(c, node, channels(constants_graph(c), x), x, y);
    constant(c, "TRANSPOSED", node->op == OP_UPCONV);
    constant(c, "BIAS", node->in[2] >= 0);
    constant(c, "RELU", node->a.conv.relu);
    call_rows(c, y);
    winograd_constants(c, node);
    constant_layout(c, "POOLED", pooled_output(node) >= 0 ? pooled_output(node) : y);
    forward_operands(c, x, y);
}

void constants_conv_pack(Constants *c, const Node *node) {
    const ValueId x = node->a.conv.pack_x, y = node->a.conv.pack_y;
    grid_constants(c, node, channels(constants_graph(c), x), x, y);
    constant(c, "TRANSPOSED", node->a.conv.pack_for == OP_UPCONV);
    call_arguments(c, "", "");
    forward_operands(c, x, y);
}

static void backward_constants(Constants *c, const Node *node, ValueId dx, ValueId dy) {
    grid_constants(c, node, node->a.conv.channels, dx, dy);
    constant(c, "C0", node->a.conv.channel_begin);
    constant(c, "CS", channels(constants_graph(c), dx));
    constant_like(c, "CS_LIKE", dx);
    constant_layout(c, "DX", dx);
    constant_layout(c, "DY", dy);
}

void constants_dgrad(Constants *c, const Node *node) {
    backward_constants(c, node, node->out[0], node->in[0]);
    constant(c, "MASK", node->a.conv.mask);
    constant(c, "ADDED", node->a.conv.adds);
    call_rows(c, node->out[0]);
    winograd_constants(c, node);
    constant_layout(c, "M", node->a.conv.mask ? node->in[2] : node->out[0]);
    constant_layout(c, "A", node->a.conv.adds ? node->in[3] : node->out[0]);
}

void constants_dgrad_pack(Constants *c, const Node *node) {
    backward_constants(c, node, node->a.conv.pack_x, node->a.conv.pack_y);
    constant(c, "TRANSPOSED", node->a.conv.pack_for == OP_UPCONV_DGRAD);
    call_arguments(c, "", "");
}

/* The rows are positions of the window. */
void constants_wgrad(Constants *c, const Node *node) {
    ValueId x = node->in[0], dy = node->in[1];
    grid_constants(c, node, channels(constants_graph(c), x), x, dy);
    constant(c, "TRANSPOSED", node->op == OP_UPCONV_WGRAD);
    constant(c, "BIAS", node->out[1] >= 0 || node->a.conv.sums_bias);
    call_rows(c, node->op == OP_UPCONV_WGRAD ? x : dy);
    constant(c, "BANDS", node->a.conv.bands);
    winograd_constants(c, node);
    constant(c, "ACCUMULATE", node->accumulates);
    constant_segments(c, "X", x);
    constant_layout(c, "DY", dy);
}

void constants_wgrad_end(Constants *c, const Node *node) {
    const ValueId x = node->a.conv.pack_x, dy = node->a.conv.pack_y;
    grid_constants(c, node, channels(constants_graph(c), x), x, dy);
    constant(c, "TRANSPOSED", node->a.conv.pack_for == OP_UPCONV_WGRAD);
    constant(c, "BIAS", node->out[1] >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "", "");
    constant_segments(c, "X", x);
    constant_layout(c, "DY", dy);
}

/* cuda/emit.c adds the constants of packed filters for cuda kernels. */
void constants_filter_pack(Constants *c, const Node *node) {
    constant(c, "BIAS", node->in[1] >= 0);
}

void constants_filter_unpack(Constants *c, const Node *node) {
    const ValueId dy = node->a.conv.pack_y;
    constant(c, "CO", channels(constants_graph(c), dy));
    constant(c, "BIAS", node->out[1] >= 0);
    constant(c, "BANDS", node->a.conv.bands);
    constant(c, "SUMMED", node->in[1] >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
    call_arguments(c, "", "");
    constant_layout(c, "DY", dy);
}

static void groups_constants(Constants *c, const Node *node, ValueId x, ValueId y) {
    grid_constants(c, node, channels(constants_graph(c), x), x, y);
    constant(c, "GROUPS", node->a.conv.groups);
    constant(c, "GROUP_IN", channels(constants_graph(c), x) / node->a.conv.groups);
    constant(c, "GROUP_OUT", channels(constants_graph(c), y) / node->a.conv.groups);
}

void constants_conv_groups(Constants *c, const Node *node) {
    groups_constants(c, node, node->in[0], node->out[0]);
    constant(c, "BIAS", node->in[2] >= 0);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "Y", node->out[0]);
    call_rows(c, node->out[0]);
}

void constants_conv_groups_dgrad(Constants *c, const Node *node) {
    groups_constants(c, node, node->out[0], node->in[0]);
    constant(c, "BIAS", node->in[2] >= 0);
    constant_layout(c, "DX", node->out[0]);
    constant_layout(c, "DY", node->in[0]);
    call_rows(c, node->out[0]);
}

void constants_conv_groups_wgrad(Constants *c, const Node *node) {
    groups_constants(c, node, node->in[0], node->in[1]);
    constant(c, "BIAS", node->out[1] >= 0);
    constant(c, "ACCUMULATE", node->accumulates);
    constant(c, "BANDS", node->a.conv.bands);
    constant_layout(c, "X", node->in[0]);
    constant_layout(c, "DY", node->in[1]);
}
