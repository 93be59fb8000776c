/* run.c - plans on a stream: operands are read into dense arrays of floats as their descriptors say, plain
 * loops compute on those, and the result is written back in the type and order of its own descriptor.
 *
 * Sums are formed in double and rounded once, where a result is stored: what cuDNN computes may differ from
 * this by the rounding of its sums in float.
 */
#include "reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 8 };

#pragma weak cudaLaunchHostFunc

/* One execution, kept as long as its handle, because a captured stream runs it again. */
typedef struct Launch {
    struct Launch *next;
    Descriptor *plan;
    int64_t npointer, uid[MAX_TENSORS];
    void *pointer[MAX_TENSORS];
    void *workspace;
    size_t workspace_bytes;
} Launch;

static void *must(void *memory) {
    if (memory == NULL) {
        fprintf(stderr, "cudnn_reference: out of memory\n");
        abort();
    }
    return memory;
}

/* ---- numbers of 16 bits ---- */

static float from_bf16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float x;
    memcpy(&x, &wide, sizeof x);
    return x;
}

static uint16_t to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x)) {
        return (uint16_t)(bits >> 16 | 64);
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to the nearest, ties to even */
}

static float from_f16(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float size = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                 : exponent == 0 ? ldexpf((float)mantissa, -24)
                                 : ldexpf((float)(mantissa + 1024), exponent - 25);
    return (bits & 0x8000) != 0 ? -size : size;
}

static uint16_t to_f16(float x) {
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    float size = fabsf(x);
    if (isnan(x) || size >= 65520) {
        return (uint16_t)(sign | (isnan(x) ? 0x7e00 : 0x7c00));
    }
    int exponent = -24;
    if (size > 0) {
        frexpf(size, &exponent);
    }
    int unit = exponent - 11 > -24 ? exponent - 11 : -24; /* power of two of the last bit */
    long mantissa = lrintf(ldexpf(size, -unit));          /* to the nearest, ties to even */
    return (uint16_t)(sign | (((unit + 24) << 10) + mantissa));
}

/* ---- tensors ---- */

/* (n, d, h, w, c) of floats, d = 1 in two dimensions. */
typedef struct {
    const Descriptor *tensor;
    int64_t n, d, h, w, c;
    float *value;
} Dense;

typedef struct {
    const Launch *launch;
    int count;
    Dense item[MAX_TENSORS]; /* virtual tensors */
    double factor;           /* of results, which stands for an order of summation */
} Run;

static int64_t elements(const Dense *t) {
    return t->n * t->d * t->h * t->w * t->c;
}

static Dense dense(const Descriptor *tensor) {
    int64_t axes;
    const int64_t *size = values_of(tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, &axes);
    Dense t = {.tensor = tensor,
               .n = size[0],
               .c = size[1],
               .d = axes == 5 ? size[2] : 1,
               .h = size[axes - 2],
               .w = size[axes - 1]};
    t.value = must(calloc((size_t)elements(&t), sizeof *t.value));
    return t;
}

static void *pointer_of(const Launch *launch, const Descriptor *tensor) {
    for (int64_t i = 0; i < launch->npointer; i++) {
        if (launch->uid[i] == number_of(tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID)) {
            return launch->pointer[i];
        }
    }
    return NULL;
}

/* Copies between T and the memory of its tensor. */
static void transfer(const Launch *launch, Dense *t, bool store) {
    int64_t axes;
    values_of(t->tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, &axes);
    const int64_t *stride = values_of(t->tensor, CUDNN_ATTR_TENSOR_STRIDES, NULL);
    const int type = choice_of(t->tensor, CUDNN_ATTR_TENSOR_DATA_TYPE);
    const int64_t deep = axes == 5 ? stride[2] : 0;
    float *wide = pointer_of(launch, t->tensor);
    uint16_t *narrow = pointer_of(launch, t->tensor);
    int64_t i = 0;
    for (int64_t n = 0; n < t->n; n++) {
        for (int64_t point = 0; point < t->d * t->h * t->w; point++) {
            int64_t d = point / (t->h * t->w), h = point / t->w % t->h, w = point % t->w;
            int64_t at = n * stride[0] + d * deep + h * stride[axes - 2] + w * stride[axes - 1];
            for (int64_t c = 0; c < t->c; c++, i++, at += stride[1]) {
                if (type == CUDNN_DATA_FLOAT && store) {
                    wide[at] = t->value[i];
                } else if (type == CUDNN_DATA_FLOAT) {
                    t->value[i] = wide[at];
                } else if (store) {
                    narrow[at] = (type == CUDNN_DATA_HALF ? to_f16 : to_bf16)(t->value[i]);
                } else {
                    t->value[i] = (type == CUDNN_DATA_HALF ? from_f16 : from_bf16)(narrow[at]);
                }
            }
        }
    }
}

/* An operand, out of memory or out of the operation before. */
static Dense load(Run *run, const Descriptor *tensor) {
    Dense t = dense(tensor);
    for (int i = 0; i < run->count; i++) {
        if (run->item[i].tensor == tensor) {
            memcpy(t.value, run->item[i].value, (size_t)elements(&t) * sizeof *t.value);
            return t;
        }
    }
    transfer(run->launch, &t, false);
    return t;
}

/* Takes T over. */
static void keep(Run *run, Dense t) {
    if (pointer_of(run->launch, t.tensor) != NULL) {
        transfer(run->launch, &t, true);
        free(t.value);
    } else {
        run->item[run->count++] = t;
    }
}

/* ---- operations ---- */

#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

typedef struct {
    int64_t stride[3], dilation[3], before[3];
} Window;

static Window read_window(const Descriptor *d) {
    Window window = {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    int64_t axes = number_of(d, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
    size_t bytes = (size_t)axes * sizeof(int64_t);
    memcpy(window.stride + 3 - axes, values_of(d, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, NULL), bytes);
    memcpy(window.dilation + 3 - axes, values_of(d, CUDNN_ATTR_CONVOLUTION_DILATIONS, NULL), bytes);
    memcpy(window.before + 3 - axes, values_of(d, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, NULL), bytes);
    return window;
}

/* The products of one point of y and the point of x that lies under one tap of w: one of X, W and Y is the
 * result, and SUM stands for it. Nearly all time goes here, and all arrays are dense and our own: without
 * the sanitizers it goes several times as fast. */
UNCHECKED static void products(int result, const Dense *x, const Dense *w, const Dense *y, int64_t at_x,
                               int64_t tap, int64_t at_y, double *sum) {
    const int64_t taps = w->d * w->h * w->w, nc = x->c;
    const float *px = x->value + at_x * nc;
    for (int64_t k = 0; k < y->c; k++) {
        const int64_t iy = at_y * y->c + k, iw = (k * taps + tap) * nc;
        const float *pw = w->value + iw;
        const double dy = y->value[iy];
        double total = 0;
        for (int64_t c = 0; result == 0 && c < nc; c++) {
            sum[at_x * nc + c] += dy * pw[c];
        }
        for (int64_t c = 0; result == 1 && c < nc; c++) {
            sum[iw + c] += px[c] * dy;
        }
        for (int64_t c = 0; result == 2 && c < nc; c++) {
            total += (double)px[c] * pw[c];
        }
        if (result == 2) {
            sum[iy] += total;
        }
    }
}

/* RESULT: 0 x, 1 w, 2 y. */
static void convolve(int result, const Window *window, const Dense *x, const Dense *w, const Dense *y,
                     double *sum) {
    const int64_t points = y->d * y->h * y->w, taps = w->d * w->h * w->w;
    for (int64_t i = 0; i < y->n * points * taps; i++) {
        const int64_t tap = i % taps, at_y = i / taps, n = at_y / points, point = at_y % points;
        const int64_t out[3] = {point / (y->h * y->w), point / y->w % y->h, point % y->w};
        const int64_t part[3] = {tap / (w->h * w->w), tap / w->w % w->h, tap % w->w};
        const int64_t size[3] = {x->d, x->h, x->w};
        int64_t at_x = n;
        bool inside = true;
        for (int k = 0; k < 3; k++) {
            int64_t at = out[k] * window->stride[k] + part[k] * window->dilation[k] - window->before[k];
            inside = inside && at >= 0 && at < size[k];
            at_x = at_x * size[k] + at;
        }
        if (inside) {
            products(result, x, w, y, at_x, tap, at_y, sum);
        }
    }
}

static void run_convolution(Run *run, const Descriptor *operation) {
    const ConvolutionNames *names = convolution_names(operation);
    const float alpha = factor_of(operation, names->alpha), beta = factor_of(operation, names->beta);
    const int part[3] = {names->x, names->w, names->y};
    Dense t[3];
    int result = 0;
    for (int i = 0; i < 3; i++) {
        const Descriptor *tensor = part_of(operation, part[i]);
        bool is_result = part[i] == names->result;
        result = is_result ? i : result;
        t[i] = is_result && beta == 0 ? dense(tensor) : load(run, tensor);
    }
    const int64_t count = elements(&t[result]);
    double *sum = must(calloc((size_t)count, sizeof *sum));
    const Window window = read_window(part_of(operation, names->window));
    convolve(result, &window, &t[0], &t[1], &t[2], sum);
    for (int64_t i = 0; i < count; i++) {
        double old = beta == 0 ? 0 : (double)beta * t[result].value[i];
        t[result].value[i] = (float)(alpha * run->factor * sum[i] + old);
    }
    free(sum);
    for (int i = 0; i < 3; i++) {
        if (i != result) {
            free(t[i].value);
        }
    }
    keep(run, t[result]);
}

static float pointwise(int mode, float x, float other) {
    switch (mode) {
    case CUDNN_POINTWISE_ADD:
        return x + other;
    case CUDNN_POINTWISE_RELU_FWD:
        return x > 0 ? x : 0; /* a NaN need not stay one: nobody asks for it */
    case CUDNN_POINTWISE_RELU_BWD:
        return x > 0 ? other : 0;
    default:
        return x;
    }
}

static void run_pointwise(Run *run, const Descriptor *operation) {
    const Descriptor *description = part_of(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const int mode = choice_of(description, CUDNN_ATTR_POINTWISE_MODE);
    Descriptor *operand[2];
    bool two = operands_of(operation, operand) == 2;
    Dense x = load(run, operand[0]), other = load(run, operand[two ? 1 : 0]);
    Dense y = dense(result_of(operation));
    bool row = elements(&other) != elements(&y); /* one number a channel, for all points */
    for (int64_t i = 0; i < elements(&y); i++) {
        y.value[i] = pointwise(mode, x.value[i], other.value[row ? i % other.c : i]);
    }
    free(x.value);
    free(other.value);
    keep(run, y);
}

/* The sums of each channel. */
static void run_reduction(Run *run, const Descriptor *operation) {
    Descriptor *operand[2];
    operands_of(operation, operand);
    Dense x = load(run, operand[0]), y = dense(result_of(operation));
    double *sum = must(calloc((size_t)x.c, sizeof *sum));
    for (int64_t i = 0; i < elements(&x); i++) {
        sum[i % x.c] += x.value[i];
    }
    for (int64_t c = 0; c < x.c; c++) {
        y.value[c] = (float)sum[c];
    }
    free(sum);
    free(x.value);
    keep(run, y);
}

static void run_operation(Run *run, const Descriptor *operation) {
    if (convolution_names(operation) != NULL) {
        run_convolution(run, operation);
    } else if (operation->type == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR) {
        run_reduction(run, operation);
    } else {
        run_pointwise(run, operation);
    }
}

/* ---- launches ---- */

static const Descriptor *graph_of(const Descriptor *plan) {
    const Descriptor *config = part_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    return part_of(part_of(config, CUDNN_ATTR_ENGINECFG_ENGINE), CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
}

/* The numbers that a real kernel leaves in its workspace are of no use to anyone. */
static void spoil(const Launch *launch) {
    if (launch->workspace_bytes > 0) {
        memset(launch->workspace, 0xff, launch->workspace_bytes);
    }
}

/* From tests/cuda/shim, if the program has it: the work that runs takes so many nanoseconds. */
extern void shim_takes(long nanoseconds) __attribute__((weak));

/* Engines that are not the fast one take their time. */
static void linger(int64_t engine) {
    enum { FAST = 10000, SLOW = 2000000 };
    const char *fast = getenv("UNET_CUDNN_REFERENCE_FAST");
    if (fast != NULL && shim_takes != NULL) {
        shim_takes(strtoll(fast, NULL, 10) == engine ? FAST : SLOW);
    }
}

static double factor_of_engine(int64_t engine) {
    return getenv("UNET_CUDNN_REFERENCE_ROUNDS") == NULL ? 1 : 1 + 0x1p-12 * (double)engine;
}

static void run_launch(void *data) {
    Run run = {.launch = data};
    int64_t count;
    const int64_t engine = engine_number(run.launch->plan);
    run.factor = factor_of_engine(engine);
    linger(engine);
    Descriptor *const *operation = operations_of(graph_of(run.launch->plan), &count);
    spoil(run.launch);
    for (int64_t i = 0; i < count; i++) {
        run_operation(&run, operation[i]);
    }
    for (int i = 0; i < run.count; i++) {
        free(run.item[i].value);
    }
    spoil(run.launch);
}

/* Whether TENSOR has what it needs: nothing if it is virtual. */
static bool is_bound(const Launch *launch, const Descriptor *tensor) {
    bool is_virtual = *(const bool *)values_of(tensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, NULL);
    void *pointer = pointer_of(launch, tensor);
    return is_virtual ? pointer == NULL : pointer != NULL && ((uintptr_t)pointer & 15) == 0;
}

/* Whether each tensor that is not virtual has its pointer, and each pointer its tensor. */
static bool all_bound(const Launch *launch) {
    int64_t count;
    bool used[MAX_TENSORS] = {false}, all = true;
    Descriptor *const *operation = operations_of(graph_of(launch->plan), &count);
    for (int64_t i = 0; i < count; i++) {
        Descriptor *tensor[3] = {result_of(operation[i])};
        int ntensor = 1 + operands_of(operation[i], tensor + 1);
        for (int k = 0; k < ntensor; k++) {
            if (!is_bound(launch, tensor[k])) {
                return false;
            }
            for (int64_t p = 0; p < launch->npointer; p++) {
                used[p] = used[p] || launch->uid[p] == number_of(tensor[k], CUDNN_ATTR_TENSOR_UNIQUE_ID);
            }
        }
    }
    for (int64_t p = 0; p < launch->npointer; p++) {
        all = all && used[p];
    }
    return all;
}

static Launch *find_same(cudnnHandle_t handle, const Launch *wanted) {
    for (Launch *l = handle->launches; l != NULL; l = l->next) {
        if (l->plan == wanted->plan && l->workspace == wanted->workspace &&
            l->npointer == wanted->npointer && memcmp(l->uid, wanted->uid, sizeof l->uid) == 0 &&
            memcmp(l->pointer, wanted->pointer, sizeof l->pointer) == 0) {
            return l;
        }
    }
    return NULL;
}

static void log_plan(const Descriptor *plan) {
    const char *path = getenv("UNET_CUDNN_REFERENCE_LOG");
    FILE *file = path == NULL ? NULL : fopen(path, "a");
    int64_t count;
    if (file == NULL) {
        return;
    }
    const Descriptor *config = part_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
    Descriptor *const *choice = values_of(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, &count);
    fprintf(file, "%lld", (long long)engine_number(plan));
    for (int64_t i = 0; choice != NULL && i < count; i++) {
        fprintf(file, " %d %lld", choice_of(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE),
                (long long)number_of(choice[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE));
    }
    const Descriptor *operation = operations_of(graph_of(plan), &count)[0];
    const ConvolutionNames *names = convolution_names(operation);
    const int part[3] = {names->x, names->w, names->y};
    fprintf(file, "; %s", names->result == names->x ? "x" : names->result == names->w ? "w" : "y");
    for (int k = 0; k < 3; k++) {
        const int64_t *size = values_of(part_of(operation, part[k]), CUDNN_ATTR_TENSOR_DIMENSIONS, &count);
        for (int64_t i = 0; i < count; i++) {
            fprintf(file, " %lld", (long long)size[i]);
        }
    }
    fprintf(file, "\n");
    fclose(file);
}

cudnnStatus_t run_plan(cudnnHandle_t handle, Descriptor *plan, const Descriptor *pack) {
    const cudnnHandle_t *planned = values_of(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, NULL);
    if (planned == NULL || *planned != handle) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "the plan was not made for this handle");
    }
    Launch wanted = {.plan = plan};
    const int64_t *uid = values_of(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &wanted.npointer);
    if (wanted.npointer > MAX_TENSORS) {
        return refuse(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND, "too many pointers");
    }
    memcpy(wanted.uid, uid, (size_t)wanted.npointer * sizeof *uid);
    memcpy(wanted.pointer, values_of(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, NULL),
           (size_t)wanted.npointer * sizeof *wanted.pointer);
    wanted.workspace = *(void *const *)values_of(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, NULL);
    wanted.workspace_bytes =
        (size_t)config_workspace(part_of(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
    if (!all_bound(&wanted) || (wanted.workspace_bytes > 0 && wanted.workspace == NULL)) {
        return refuse(CUDNN_STATUS_BAD_PARAM, "a pointer is missing or not aligned");
    }
    log_plan(plan);
    Launch *launch = find_same(handle, &wanted);
    if (launch == NULL) {
        launch = must(malloc(sizeof *launch));
        *launch = wanted;
        launch->next = handle->launches;
        handle->launches = launch;
        descriptor_retain(plan);
    }
    if (cudaLaunchHostFunc == NULL) {
        run_launch(launch);
        return CUDNN_STATUS_SUCCESS;
    }
    return cudaLaunchHostFunc(handle->stream, run_launch, launch) == cudaSuccess
               ? CUDNN_STATUS_SUCCESS
               : refuse(CUDNN_STATUS_EXECUTION_FAILED, "the stream refused the work");
}

void forget_launches(cudnnHandle_t handle) {
    while (handle->launches != NULL) {
        Launch *launch = handle->launches;
        handle->launches = launch->next;
        descriptor_release(launch->plan);
        free(launch);
    }
}
