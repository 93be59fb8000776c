/* fused.c - graphs of cuDNN of a convolution and a pass that follows it (fused.h). */
#include "fused.h"

enum { UID_BETWEEN = 10, UID_ADDED };

typedef struct {
    Build *b;
    const UnetConvolution *c; /* bare */
    Extent extent[3];         /* of result and operands */
    Operations list;
    FusedGraph made;
} Graph;

/* ---- parts ---- */

/* A tensor that has memory. */
static cudnnBackendDescriptor_t stored(Graph *g, int64_t uid, UnetType type, const Extent *e) {
    g->made.uid[g->made.count] = uid;
    g->made.bytes[g->made.count++] = e->size[0] * e->stride[0] * (type == UNET_F32 ? 4 : 2);
    return build_tensor(g->b, uid, type, e, false);
}

static cudnnBackendDescriptor_t between(const Graph *g, int64_t uid) {
    return build_tensor(g->b, uid, UNET_F32, &g->extent[0], true);
}

static cudnnBackendDescriptor_t result(Graph *g) {
    return stored(g, UID_RESULT, g->c->type, &g->extent[0]);
}

/* One number for each channel of the result. */
static Extent row(const Graph *g) {
    static const int64_t point[3] = {1, 1, 1};
    return build_packed(g->c, 1, point, g->extent[0].size[1]);
}

static void append(Graph *g, cudnnBackendDescriptor_t operation) {
    g->list.item[g->list.count++] = operation;
}

/* The result of the convolution, in f32 and nowhere. */
static cudnnBackendDescriptor_t convolved(Graph *g) {
    cudnnBackendDescriptor_t sum = between(g, UID_BETWEEN);
    append(g, build_convolve(g->b, g->c, sum, 0));
    return sum;
}

static void add(Graph *g, cudnnBackendDescriptor_t x, cudnnBackendDescriptor_t other,
                cudnnBackendDescriptor_t to) {
    append(g, build_pointwise(g->b, CUDNN_POINTWISE_ADD, x, other, to));
}

/* DX is DY where what ReLU left is positive, and else zero. */
static void mask(Graph *g, cudnnBackendDescriptor_t dy, cudnnBackendDescriptor_t dx) {
    cudnnBackendDescriptor_t left = stored(g, UID_MASK, g->c->type, &g->extent[0]);
    cudnnBackendDescriptor_t what = build_mode(g->b, CUDNN_POINTWISE_RELU_BWD);
    cudnnBackendDescriptor_t d = build_new(g->b, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, left);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, dy);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, dx);
    build_finish(g->b, d, "the gradient of ReLU");
    append(g, d);
}

/* TOTALS has the sum of each channel of X. */
static void total(Graph *g, cudnnBackendDescriptor_t x) {
    const cudnnReduceTensorOp_t sum = CUDNN_REDUCE_TENSOR_ADD;
    const cudnnDataType_t arithmetic = CUDNN_DATA_FLOAT;
    const Extent e = row(g);
    cudnnBackendDescriptor_t totals = stored(g, UID_TOTALS, UNET_F32, &e);
    cudnnBackendDescriptor_t what = build_new(g->b, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    build_set(g->b, what, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &sum);
    build_set(g->b, what, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &arithmetic);
    build_finish(g->b, what, "a sum");
    cudnnBackendDescriptor_t d = build_new(g->b, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_REDUCTION_DESC, what);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    build_set_part(g->b, d, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, totals);
    build_finish(g->b, d, "sums of channels");
    append(g, d);
}

/* ---- forms ---- */

/* With bias and ReLU, into one half of the channels of a concat. */
static void into_slice(Graph *g) {
    Extent half = build_packed(g->c, g->c->batch, g->c->out, 2 * g->c->out_channels);
    half.size[1] = g->c->out_channels;
    const Extent e = row(g);
    cudnnBackendDescriptor_t y = stored(g, UID_RESULT, g->c->type, &half), sum = convolved(g);
    cudnnBackendDescriptor_t bias = stored(g, UID_BIAS, g->c->type, &e), biased = between(g, UID_ADDED);
    add(g, sum, bias, biased);
    append(g, build_pointwise(g->b, CUDNN_POINTWISE_RELU_FWD, biased, NULL, y));
}

static void masked(Graph *g) {
    cudnnBackendDescriptor_t dx = result(g), sum = convolved(g);
    mask(g, sum, dx);
}

static void masked_summed(Graph *g) {
    cudnnBackendDescriptor_t dx = result(g), sum = convolved(g);
    mask(g, sum, dx);
    total(g, dx);
}

static void added(Graph *g) {
    cudnnBackendDescriptor_t dx = result(g), sum = convolved(g);
    cudnnBackendDescriptor_t other = stored(g, UID_SUM, g->c->type, &g->extent[0]);
    add(g, sum, other, dx);
}

static void added_masked(Graph *g) {
    cudnnBackendDescriptor_t dx = result(g), sum = convolved(g), both = between(g, UID_ADDED);
    cudnnBackendDescriptor_t other = stored(g, UID_SUM, g->c->type, &g->extent[0]);
    add(g, sum, other, both);
    mask(g, both, dx);
}

static void biased(Graph *g) {
    const Extent e = row(g);
    cudnnBackendDescriptor_t y = result(g), sum = convolved(g), bias = stored(g, UID_BIAS, g->c->type, &e);
    add(g, sum, bias, y);
}

static void widened(Graph *g) {
    cudnnBackendDescriptor_t dw = stored(g, UID_RESULT, UNET_F32, &g->extent[0]), sum = convolved(g);
    append(g, build_pointwise(g->b, CUDNN_POINTWISE_IDENTITY, sum, NULL, dw));
}

static bool strides(const UnetConvolution *c) {
    return c->stride[0] > 1 || c->stride[1] > 1 || c->stride[2] > 1;
}

static bool always(const UnetConvolution *c) {
    return c->axes > 0;
}

static bool is_dense(const UnetConvolution *c) {
    return !strides(c);
}

static bool has_relu(const UnetConvolution *c) {
    return c->relu;
}

static bool is_narrow(const UnetConvolution *c) {
    return c->type != UNET_F32 && c->result_type == c->type;
}

/* A form with a window that strides is a transposed convolution, mostly. */
static const struct {
    const char *name;
    UnetConvolutionKind kind;
    bool (*applies)(const UnetConvolution *c);
    void (*build)(Graph *g);
} forms[FUSED_FORMS] = {
    {"dx, masked", UNET_BACKWARD_DATA, is_dense, masked},
    {"dx, masked, summed", UNET_BACKWARD_DATA, is_dense, masked_summed},
    {"dx, added, masked", UNET_BACKWARD_DATA, is_dense, added_masked},
    {"dx, added", UNET_BACKWARD_DATA, always, added},
    {"dx, biased", UNET_BACKWARD_DATA, strides, biased},
    {"y, into a slice", UNET_FORWARD, has_relu, into_slice},
    {"dw in f32", UNET_BACKWARD_FILTER, is_narrow, widened},
};

const char *fused_name(int form) {
    return forms[form].name;
}

bool fused_applies(int form, const UnetConvolution *c) {
    return forms[form].kind == c->kind && forms[form].applies(c);
}

FusedGraph fused_graph(Build *b, int form, const UnetConvolution *c) {
    Graph g = {.b = b, .c = c};
    build_extents(c, g.extent);
    forms[form].build(&g);
    for (int i = 1; i < 3; i++) { /* a, b: the convolution made their tensors */
        g.made.uid[g.made.count] = UID_RESULT + i;
        g.made.bytes[g.made.count++] =
            g.extent[i].size[0] * g.extent[i].stride[0] * (c->type == UNET_F32 ? 4 : 2);
    }
    g.made.graph = build_graph(b, &g.list);
    if (b->status != UNET_OK)
        g.made.graph = NULL;
    return g.made;
}
