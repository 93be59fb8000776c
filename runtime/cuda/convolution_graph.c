/* convolution_graph.c - a convolution as a graph of cuDNN's operations:
 *
 *     forward            y  = conv(x, w)  [+ y]
 *                        y  = max(conv(x, w) [+ y] + bias, 0), either part alone too; tensors between
 *                             stay in f32
 *     backward data      dx = dgrad(dy, w)  [+ dx]
 *     backward filter    dw = wgrad(x, dy)  [+ dw]
 *                        dw = f32(wgrad(x, dy))  [+ dw], x and dy of 16 bits
 *
 * Without an operation behind it, a convolution adds to its result by its own factor beta; the others do so
 * by an addition that reads the result and writes it back.
 *
 * cuDNN counts axes as (n, c, d, h, w), wherever strides put them in memory: here channels lie innermost.
 */
#include "convolution_graph.h"

#include <stdio.h>
#include <string.h>

/* ---- descriptors ---- */

Build build_start(const UnetCudnnTarget *target, UnetError *error) {
    return (Build){.target = target, .error = error, .status = UNET_OK};
}

void build_release(Build *b, int32_t first) {
    while (b->count > first) {
        b->target->api->destroy(b->item[--b->count]);
    }
    b->status = UNET_OK;
}

/* Whose failure it is: of the machine, or of who asked for the impossible. */
static UnetStatus kind_of_failure(cudnnStatus_t status) {
    if (status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
        return UNET_TOO_SMALL;
    return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_EXECUTION_FAILED ? UNET_IO : UNET_BUG;
}

static void check(Build *b, cudnnStatus_t status, const char *what) {
    if (status == CUDNN_STATUS_SUCCESS || b->status != UNET_OK) {
        return;
    }
    const UnetCudnn *api = b->target->api;
    char why[512] = "";
    api->last_error(why, sizeof why);
    why[sizeof why - 1] = '\0';
    b->status = unet_fail(b->error, kind_of_failure(status), "cuDNN %zu, %s: %s: %s", api->version(), what,
                          api->status_text(status), why);
}

cudnnBackendDescriptor_t build_new(Build *b, cudnnBackendDescriptorType_t type) {
    cudnnBackendDescriptor_t d = NULL;
    if (b->status == UNET_OK && b->count == BUILD_DESCRIPTORS) {
        b->status = unet_fail(b->error, UNET_BUG, "more than %d descriptors of cuDNN", BUILD_DESCRIPTORS);
    }
    if (b->status == UNET_OK) {
        check(b, b->target->api->create(type, &d), "a new descriptor");
    }
    if (d != NULL) {
        b->item[b->count++] = d;
    }
    return d;
}

void build_set(Build *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
               cudnnBackendAttributeType_t type, int64_t count, const void *values) {
    if (b->status == UNET_OK) {
        char what[32];
        snprintf(what, sizeof what, "attribute %d", (int)name);
        check(b, b->target->api->set(d, name, type, count, values), what);
    }
}

void build_set_part(Build *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                    cudnnBackendDescriptor_t part) {
    build_set(b, d, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &part);
}

void build_finish(Build *b, cudnnBackendDescriptor_t d, const char *what) {
    if (b->status == UNET_OK) {
        check(b, b->target->api->finalize(d), what);
    }
}

int64_t build_get(const Build *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                  cudnnBackendAttributeType_t type, int64_t capacity, void *values) {
    int64_t count = 0;
    if (b->status != UNET_OK ||
        b->target->api->get(d, name, type, capacity, &count, values) != CUDNN_STATUS_SUCCESS) {
        return -1;
    }
    return count;
}

void build_execute(Build *b, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
    if (b->status == UNET_OK) {
        check(b, b->target->api->execute(b->target->handle, plan, pack), "a convolution");
    }
}

/* ---- is it a convolution at all? ---- */

bool convolution_widens(const UnetConvolution *c) {
    return c->result_type != c->type;
}

bool convolution_has_sum(const UnetConvolution *c) {
    return (convolution_widens(c) || c->bias || c->relu) && c->accumulate;
}

static bool is_stored_type(UnetType type) {
    return type == UNET_F32 || type == UNET_BF16 || type == UNET_F16;
}

static bool forms_allowed(const UnetConvolution *c) {
    bool after = c->bias || c->relu;
    bool widened = c->kind == UNET_BACKWARD_FILTER && c->result_type == UNET_F32;
    return (unsigned)c->kind <= UNET_BACKWARD_FILTER && is_stored_type(c->type) &&
           (c->result_type == c->type || widened) && !(after && c->kind != UNET_FORWARD);
}

/* Whether the sizes of an axis agree: out = (in + before + after - reach of the kernel) / stride + 1. */
static bool axis_agrees(const UnetConvolution *c, int32_t k) {
    const int64_t max = INT32_MAX; /* so that nothing below overflows */
    const int64_t positive[] = {c->in[k], c->out[k], c->kernel[k], c->stride[k], c->dilation[k]};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) {
        if (positive[i] < 1 || positive[i] > max) {
            return false;
        }
    }
    if (c->before[k] < 0 || c->after[k] < 0 || c->before[k] > max || c->after[k] > max) {
        return false;
    }
    int64_t room = c->in[k] + c->before[k] + c->after[k] - (c->kernel[k] - 1) * c->dilation[k] - 1;
    return room >= 0 && room / c->stride[k] + 1 == c->out[k];
}

/* Whether N x SIZE x CHANNELS elements of up to 4 bytes have an int64_t number of bytes. */
static bool countable(int64_t n, const int64_t size[3], int64_t channels) {
    int64_t bytes = 4;
    return n > 0 && channels > 0 && !__builtin_mul_overflow(bytes, n, &bytes) &&
           !__builtin_mul_overflow(bytes, channels, &bytes) &&
           !__builtin_mul_overflow(bytes, size[0], &bytes) &&
           !__builtin_mul_overflow(bytes, size[1], &bytes) &&
           !__builtin_mul_overflow(bytes, size[2], &bytes);
}

static bool is_convolution(const UnetConvolution *c) {
    if (!forms_allowed(c) || c->axes < 2 || c->axes > 3) {
        return false;
    }
    for (int32_t k = 0; k < 3; k++) {
        if (!axis_agrees(c, k)) {
            return false;
        }
    }
    bool flat = c->in[0] == 1 && c->out[0] == 1 && c->kernel[0] == 1;
    return (c->axes == 3 || flat) && countable(c->batch, c->in, c->in_channels) &&
           countable(c->batch, c->out, c->out_channels) &&
           countable(c->out_channels, c->kernel, c->in_channels);
}

/* ---- tensors ---- */

static cudnnDataType_t data_type(UnetType type) {
    return type == UNET_F32 ? CUDNN_DATA_FLOAT : type == UNET_BF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
}

Extent build_packed(const UnetConvolution *c, int64_t n, const int64_t size[3], int64_t channels) {
    Extent e = {.axes = c->axes + 2};
    e.size[0] = n;
    e.size[1] = channels;
    e.stride[1] = 1;
    int64_t stride = channels;
    for (int32_t k = c->axes - 1; k >= 0; k--) {
        e.size[2 + k] = size[3 - c->axes + k];
        e.stride[2 + k] = stride;
        stride *= e.size[2 + k];
    }
    e.stride[0] = stride;
    return e;
}

void build_extents(const UnetConvolution *c, Extent extent[3]) {
    const Extent x = build_packed(c, c->batch, c->in, c->in_channels);
    const Extent y = build_packed(c, c->batch, c->out, c->out_channels);
    const Extent w = build_packed(c, c->out_channels, c->kernel, c->in_channels);
    extent[0] = c->kind == UNET_FORWARD ? y : c->kind == UNET_BACKWARD_DATA ? x : w;
    extent[1] = c->kind == UNET_BACKWARD_DATA ? y : x;
    extent[2] = c->kind == UNET_BACKWARD_FILTER ? y : w;
}

cudnnBackendDescriptor_t build_tensor(Build *b, int64_t uid, UnetType stored, const Extent *e,
                                      bool is_virtual) {
    const int64_t alignment = 16;
    const cudnnDataType_t type = data_type(stored);
    cudnnBackendDescriptor_t d = build_new(b, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    build_set(b, d, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &type);
    build_set(b, d, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, e->axes, e->size);
    build_set(b, d, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, e->axes, e->stride);
    build_set(b, d, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    build_set(b, d, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    build_set(b, d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &is_virtual);
    build_finish(b, d, "a tensor");
    return d;
}

/* ---- operations ---- */

static cudnnBackendDescriptor_t window(Build *b, const UnetConvolution *c) {
    const int32_t first = 3 - c->axes;
    const int64_t axes = c->axes;
    const cudnnDataType_t arithmetic = CUDNN_DATA_FLOAT;
    const cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
    cudnnBackendDescriptor_t d = build_new(b, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &arithmetic);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1, &axes);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, axes, c->stride + first);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, axes, c->dilation + first);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, axes, c->before + first);
    build_set(b, d, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, axes, c->after + first);
    build_finish(b, d, "a window");
    return d;
}

/* The same attributes have different names in the three kinds. */
static const struct {
    cudnnBackendDescriptorType_t type;
    cudnnBackendAttributeName_t result, a, b, window, alpha, beta;
} convolution_names[] = {
    [UNET_FORWARD] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA},
    [UNET_BACKWARD_DATA] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA},
    [UNET_BACKWARD_FILTER] = {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA},
};

cudnnBackendDescriptor_t build_convolve(Build *b, const UnetConvolution *c, cudnnBackendDescriptor_t result,
                                        float beta) {
    const float alpha = 1;
    Extent extent[3];
    build_extents(c, extent);
    cudnnBackendDescriptor_t first = build_tensor(b, UID_A, c->type, &extent[1], false);
    cudnnBackendDescriptor_t second = build_tensor(b, UID_B, c->type, &extent[2], false);
    cudnnBackendDescriptor_t place = window(b, c);
    cudnnBackendDescriptor_t d = build_new(b, convolution_names[c->kind].type);
    build_set_part(b, d, convolution_names[c->kind].result, result);
    build_set_part(b, d, convolution_names[c->kind].a, first);
    build_set_part(b, d, convolution_names[c->kind].b, second);
    build_set_part(b, d, convolution_names[c->kind].window, place);
    build_set(b, d, convolution_names[c->kind].alpha, CUDNN_TYPE_FLOAT, 1, &alpha);
    build_set(b, d, convolution_names[c->kind].beta, CUDNN_TYPE_FLOAT, 1, &beta);
    build_finish(b, d, "a convolution");
    return d;
}

cudnnBackendDescriptor_t build_mode(Build *b, cudnnPointwiseMode_t mode) {
    const cudnnDataType_t arithmetic = CUDNN_DATA_FLOAT;
    cudnnBackendDescriptor_t what = build_new(b, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    build_set(b, what, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    build_set(b, what, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &arithmetic);
    build_finish(b, what, "a pointwise mode");
    return what;
}

cudnnBackendDescriptor_t build_pointwise(Build *b, cudnnPointwiseMode_t mode, cudnnBackendDescriptor_t x,
                                         cudnnBackendDescriptor_t other, cudnnBackendDescriptor_t result) {
    cudnnBackendDescriptor_t what = build_mode(b, mode);
    cudnnBackendDescriptor_t d = build_new(b, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    build_set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, what);
    build_set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x);
    if (other != NULL) {
        build_set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, other);
    }
    build_set_part(b, d, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, result);
    build_finish(b, d, "a pointwise operation");
    return d;
}

cudnnBackendDescriptor_t build_graph(Build *b, const Operations *list) {
    cudnnBackendDescriptor_t graph = build_new(b, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (b->target->handle != NULL) {
        build_set(b, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &b->target->handle);
    }
    build_set(b, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, list->count,
              list->item);
    build_finish(b, graph, "an operation graph");
    return graph;
}

/* The operations from BETWEEN, the bare convolution, to RESULT. */
static void finish_forward(Build *b, const UnetConvolution *c, const Extent *e, Operations *list,
                           cudnnBackendDescriptor_t between, cudnnBackendDescriptor_t result) {
    enum { UID_BIASED = 11, UID_ADDED };
    static const int64_t point[3] = {1, 1, 1};
    if (convolution_has_sum(c)) {
        cudnnBackendDescriptor_t before = build_tensor(b, UID_SUM, c->type, e, false);
        cudnnBackendDescriptor_t added = build_tensor(b, UID_ADDED, UNET_F32, e, true);
        list->item[list->count++] = build_pointwise(b, CUDNN_POINTWISE_ADD, between, before, added);
        between = added;
    }
    if (c->bias) {
        Extent row = build_packed(c, 1, point, c->out_channels);
        cudnnBackendDescriptor_t bias = build_tensor(b, UID_BIAS, c->type, &row, false);
        cudnnBackendDescriptor_t biased = c->relu ? build_tensor(b, UID_BIASED, UNET_F32, e, true) : result;
        list->item[list->count++] = build_pointwise(b, CUDNN_POINTWISE_ADD, between, bias, biased);
        between = biased;
    }
    if (c->relu) {
        list->item[list->count++] = build_pointwise(b, CUDNN_POINTWISE_RELU_FWD, between, NULL, result);
    }
}

static void finish_filter(Build *b, const UnetConvolution *c, const Extent *e, Operations *list,
                          cudnnBackendDescriptor_t between, cudnnBackendDescriptor_t result) {
    cudnnBackendDescriptor_t sum =
        convolution_has_sum(c) ? build_tensor(b, UID_SUM, UNET_F32, e, false) : NULL;
    list->item[list->count++] = build_pointwise(
        b, sum != NULL ? CUDNN_POINTWISE_ADD : CUDNN_POINTWISE_IDENTITY, between, sum, result);
}

cudnnBackendDescriptor_t build_convolution(Build *b, const UnetConvolution *c) {
    enum { UID_BETWEEN = 10 };
    if (b->status == UNET_OK && !is_convolution(c)) {
        b->status = unet_fail(b->error, UNET_BUG, "what cuDNN should compute is not a convolution");
    }
    if (b->status != UNET_OK) {
        return NULL;
    }
    Extent extent[3];
    Operations list = {0};
    build_extents(c, extent);
    const Extent *e = &extent[0];
    cudnnBackendDescriptor_t result = build_tensor(b, UID_RESULT, c->result_type, e, false);
    if (c->bias || c->relu || convolution_widens(c)) {
        cudnnBackendDescriptor_t between = build_tensor(b, UID_BETWEEN, UNET_F32, e, true);
        list.item[list.count++] = build_convolve(b, c, between, 0);
        (c->kind == UNET_FORWARD ? finish_forward : finish_filter)(b, c, e, &list, between, result);
    } else {
        list.item[list.count++] = build_convolve(b, c, result, c->accumulate ? 1 : 0);
    }
    return build_graph(b, &list);
}
