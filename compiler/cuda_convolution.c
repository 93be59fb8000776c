/* cuda_convolution.c - the six operators of the convolution family in terms of cuDNN's three.
 *
 * A transposed convolution is the backward-data pass of a convolution that leads the other way:
 *
 *                      result   cuDNN                       filters [K][C]
 *     conv             y        forward (x, w)              out x in
 *     conv_dgrad       dx       backward data (dy, w)
 *     conv_wgrad       dw       backward filter (x, dy)
 *     upconv           y        backward data (x, w)        in x out
 *     upconv_dgrad     dx       forward (dy, w)
 *     upconv_wgrad     dw       backward filter (dy, x)
 *
 * A concat is never assembled: each of its segments meets its own share of the filters, and the results are
 * added.  So no operand has strides, and the two halves of a skip connection live and die separately.
 */
#include "cuda_convolution.h"
#include "checked.h"
#include "cudnn.h"

int64_t cuda_channels(int64_t channels, Type type) {
    return size_rounded(channels, 16 / type_bytes(type));
}

/* ---- what a node joins ---- */

typedef enum { RESULT_Y, RESULT_DX, RESULT_DW } Wanted;

/* In the sense of the forward operator: x the input, y the output. */
typedef struct {
    bool transposed;
    Wanted result;
    ValueId x, y;
    int64_t first, channels; /* of x in the whole that the filters were made for */
} Sides;

static Sides sides_of(const Graph *g, const Node *node) {
    bool pack = node->op == OP_FILTER_PACK;
    Op op = pack ? node->a.of : node->op;
    Sides s = {.transposed = op == OP_UPCONV || op == OP_UPCONV_DGRAD || op == OP_UPCONV_WGRAD};
    bool dgrad = op == OP_CONV_DGRAD || op == OP_UPCONV_DGRAD;
    bool wgrad = op == OP_CONV_WGRAD || op == OP_UPCONV_WGRAD;
    s.result = dgrad ? RESULT_DX : wgrad ? RESULT_DW : RESULT_Y;
    s.x = pack ? node->a.of_in : dgrad ? node->out[0] : node->in[0];
    s.y = pack ? node->a.of_out : dgrad ? node->in[0] : wgrad ? node->in[1] : node->out[0];
    s.first = dgrad ? node->a.first : 0;
    s.channels = dgrad ? node->a.channels : shape_channels(g->value[s.x].shape);
    return s;
}

static int64_t taps_of(const Node *node) {
    const int64_t *k = node->a.window.kernel;
    return size_product(size_product(k[0], k[1]), k[2]);
}

CudaFilters cuda_filters(const Graph *g, const Node *node, Type stored) {
    Sides s = sides_of(g, node);
    const ValueId *leaf;
    int64_t first = s.first, other = shape_channels(g->value[s.y].shape);
    CudaFilters f = {.k = s.transposed ? s.channels : other,
                     .c = s.transposed ? other : s.channels,
                     .taps = taps_of(node),
                     .nsegment = value_leaves(g, &s.x, &leaf)};
    f.segment = NEW_ARRAY(g->pool, CudaFilter, f.nsegment);
    f.elements = node->a.packed_at;
    for (int i = 0; i < f.nsegment; i++) {
        int64_t n = shape_channels(g->value[leaf[i]].shape);
        CudaFilter *one = &f.segment[i];
        *one = s.transposed ? (CudaFilter){.k0 = first, .kn = n, .cn = other}
                            : (CudaFilter){.kn = other, .c0 = first, .cn = n};
        one->kp = cuda_channels(one->kn, stored);
        one->cp = cuda_channels(one->cn, stored);
        one->offset = f.elements;
        f.elements = size_sum(f.elements, size_product(size_product(one->kp, one->cp), f.taps));
        first += n;
    }
    return f;
}

/* ---- convolutions ---- */

static UnetType storage_type(Type type) {
    static const UnetType name[] = {UNET_F32, UNET_F64, UNET_U8, UNET_U16, UNET_I32, UNET_BF16, UNET_F16};
    return name[type];
}

/* The grids that the window joins: it slides over `dense` and has a position for each point of `sampled`.
 */
static void set_window(UnetConvolution *c, const Window *w, Shape dense, Shape sampled) {
    c->axes = dense.rank - 1;
    for (int k = 0; k < AXES; k++) {
        c->in[k] = shape_extent(dense, k);
        c->out[k] = shape_extent(sampled, k);
        c->kernel[k] = w->kernel[k];
        c->stride[k] = w->stride[k];
        c->dilation[k] = w->dilation[k];
        c->before[k] = w->before[k];
        int64_t reach = (c->out[k] - 1) * w->stride[k] + (w->kernel[k] - 1) * w->dilation[k] + 1;
        int64_t after = reach - w->before[k] - c->in[k];
        c->after[k] = after > 0 ? after : 0;
    }
}

static UnetConvolutionKind kind_of(const Sides *s) {
    if (s->result == RESULT_DW)
        return UNET_BACKWARD_FILTER;
    return (s->result == RESULT_Y) != s->transposed ? UNET_FORWARD : UNET_BACKWARD_DATA;
}

/* Most engines want nothing, or 131 bytes; that of another version of cuDNN, which must do with what was
 * planned, perhaps the other.  Buffers are as long as this anyway. */
static int64_t with_slack(int64_t workspace) {
    enum { PIECE = 256 };
    return size_rounded(workspace > 0 ? workspace : 1, PIECE);
}

UnetConvolution *cuda_convolutions(const Graph *g, const Node *node, int64_t batch,
                                   const PlanOptions *options, int *count) {
    Sides s = sides_of(g, node);
    CudaFilters f = cuda_filters(g, node, options->stored);
    UnetConvolution *list = NEW_ARRAY(g->pool, UnetConvolution, f.nsegment);
    Shape x = g->value[s.x].shape, y = g->value[s.y].shape;
    bool whole = node->op == OP_CONV && f.nsegment == 1;
    for (int i = 0; i < f.nsegment; i++) {
        UnetConvolution *c = &list[i];
        *c = (UnetConvolution){.kind = kind_of(&s),
                               .type = storage_type(options->stored),
                               .tf32 = options->tf32,
                               .nondeterministic = options->nondeterministic,
                               .accumulate = s.result == RESULT_Y && i > 0,
                               .bias = whole && node->in[2] >= 0,
                               .relu = whole && node->in[2] >= 0 && node->a.relu,
                               .batch = batch,
                               .in_channels = f.segment[i].cp,
                               .out_channels = f.segment[i].kp};
        c->result_type = c->type;
        set_window(c, &node->a.window, s.transposed ? y : x, s.transposed ? x : y);
        const char *why;
        if (!cudnn_choose(options->cudnn, c, options->little_workspace, &why))
            environment_error("cuDNN has no way to compute `%s`: %s", node->name, why);
        c->engine.workspace = with_slack(c->engine.workspace);
    }
    *count = f.nsegment;
    return list;
}

/* ---- the scratch of filter gradients ---- */

CudaScratch cuda_wgrad_scratch(const Graph *g, const Node *node, int64_t batch,
                               const PlanOptions *options) {
    enum { PIECE = 256, POINTS_A_BAND = 512, MOST_BANDS = 512 };
    Sides s = sides_of(g, node);
    CudaFilters f = cuda_filters(g, node, options->stored);
    int count;
    const UnetConvolution *c = cuda_convolutions(g, node, batch, options, &count);
    int64_t workspace = 0, points = batch;
    for (int i = 0; i < f.nsegment; i++)
        workspace = c[i].engine.workspace > workspace ? c[i].engine.workspace : workspace;
    for (int k = 0; k < AXES; k++)
        points = size_product(points, shape_extent(g->value[s.y].shape, k));
    CudaScratch scratch = {.bands = points / POINTS_A_BAND + 1};
    if (scratch.bands > MOST_BANDS)
        scratch.bands = MOST_BANDS;
    int64_t sums =
        size_product(scratch.bands, cuda_channels(shape_channels(g->value[s.y].shape), options->stored));
    scratch.bands_at = size_rounded(size_product(f.elements, type_bytes(options->stored)), PIECE);
    scratch.workspace_at = size_rounded(size_sum(scratch.bands_at, size_product(sums, 4)), PIECE);
    scratch.bytes = size_sum(scratch.workspace_at, workspace);
    return scratch;
}
