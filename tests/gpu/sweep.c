/* sweep.c - how long each convolution of a model takes by each engine that cuDNN has for it, on the device:
 *
 *   PROGRAM sweep SECONDS REPEATS
 *
 * writes one line of JSON a result, as it goes.  First the engines that are compiled already, the first
 * eight of each convolution; then those that cuDNN compiles when asked, the first two of each.  Nothing new
 * is begun after SECONDS.  A time is the median of five rounds of at most REPEATS launches on the same
 * operands, as `tune` takes it.  Convolutions that differ in nothing but their engine are measured once.
 */
#include "harness.h"

#include "timer.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

enum { FIRST = 8, FIRST_COMPILED = 2 };
static const int64_t most_workspace = INT64_C(512) << 20;

typedef struct {
    UnetCudnnTarget target;
    UnetCudaTimer timer;
    int64_t workspace;
    double last; /* moment after which nothing begins */
} Sweep;

static double seconds_now(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void expect_cuda(cudaError_t code) {
    if (code != cudaSuccess)
        fail(cudaGetErrorString(code));
}

/* ---- convolutions ---- */

static bool is_first(const UnetCudaModel *tables, int32_t i) {
    for (int32_t k = 0; k < i; k++)
        if (unet_same_convolution(&tables->convolution[k], &tables->convolution[i]))
            return false;
    return true;
}

/* ---- memory ---- */

static void take_memory(Sweep *s, const UnetCudaModel *tables) {
    int64_t operands = 0;
    size_t available, all;
    UnetError error;
    for (int32_t i = 0; i < tables->nconvolution; i++) {
        const int64_t bytes = unet_cuda_operand_bytes(&tables->convolution[i]);
        operands = bytes > operands ? bytes : operands;
    }
    expect_cuda(cudaMemGetInfo(&available, &all));
    s->workspace = (int64_t)(available / 4) < most_workspace ? (int64_t)(available / 4) : most_workspace;
    s->timer.bytes = operands + s->workspace;
    expect_cuda(cudaMalloc((void **)&s->timer.memory, (size_t)s->timer.bytes));
    if (unet_cuda_timer_open(&s->timer, tables->convolution[0].type, operands, &error) != UNET_OK)
        fail(error.text);
}

/* ---- one engine ---- */

static const char *form_name(const UnetConvolution *c) {
    static const char *const names[] = {
        [UNET_FORWARD] = "y", [UNET_BACKWARD_DATA] = "dx", [UNET_BACKWARD_FILTER] = "dw"};
    return names[c->kind];
}

static void print_engine(const UnetEngine *engine) {
    printf("\"engine\": %" PRId64 ", \"knobs\": [", engine->engine);
    for (int32_t i = 0; i < engine->nknob; i++)
        printf("%s[%" PRId64 ", %" PRId64 "]", i > 0 ? ", " : "", engine->knob[i].type,
               engine->knob[i].value);
    printf("], \"workspace\": %" PRId64, engine->workspace);
}

static void measure(const Sweep *s, const UnetConvolution *of, int32_t number,
                    const UnetCudnnCandidate *candidate, bool is_planned) {
    UnetConvolution c = *of;
    UnetCudnnPlan plan;
    UnetError error;
    double seconds = 0;
    c.engine = candidate->engine;
    c.engine.workspace = s->workspace;
    const double begin = seconds_now();
    const bool accepted = unet_cudnn_plan_pinned(&s->target, &c, &plan);
    const double planning = seconds_now() - begin;
    if (accepted && unet_cuda_timer_run(&s->timer, &c, &plan, &seconds, &error) != UNET_OK)
        fail(error.text);
    printf("{\"convolution\": %" PRId32 ", \"form\": \"%s\", \"sizes\": \"%" PRId64 " x %" PRId64
           " x %" PRId64 ", %" PRId64 " to %" PRId64 ", window %" PRId64 " x %" PRId64 "\", ",
           number, form_name(&c), c.batch, c.in[1], c.in[2], c.in_channels, c.out_channels, c.kernel[1],
           c.kernel[2]);
    print_engine(accepted ? &plan.engine : &candidate->engine);
    printf(", \"runtime compiled\": %s, \"planned\": %s, \"planning\": %.4f, \"seconds\": ",
           candidate->runtime_compiled ? "true" : "false", is_planned ? "true" : "false", planning);
    if (accepted)
        printf("%.9f}\n", seconds);
    else
        printf("null}\n"); /* cuDNN does not accept what it listed, or it wants too much workspace */
    (void)fflush(stdout);
    unet_cudnn_plan_free(&s->target, &plan);
}

/* ---- all ---- */

/* The engine that the program runs comes first, whatever cuDNN lists. */
static void sweep_one(const Sweep *s, const UnetConvolution *c, int32_t number, bool runtime_compiled) {
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    UnetError error;
    int32_t count, taken = 0;
    if (unet_cudnn_candidates(&s->target, c, list, &count, &error) != UNET_OK)
        fail(error.text);
    const bool has_pin = c->engine.version == (int64_t)s->target.api->version();
    if (has_pin && !runtime_compiled)
        measure(s, c, number, &(UnetCudnnCandidate){.engine = c->engine}, true);
    for (int32_t i = 0; i < count && taken < (runtime_compiled ? FIRST_COMPILED : FIRST); i++) {
        bool is_new = list[i].runtime_compiled == runtime_compiled &&
                      !(has_pin && unet_same_engine(&list[i].engine, &c->engine));
        for (int32_t k = 0; k < i && is_new; k++)
            is_new = !unet_same_engine(&list[k].engine, &list[i].engine);
        if (!is_new || seconds_now() > s->last)
            continue;
        measure(s, c, number, &list[i], false);
        taken++;
    }
}

static void open_device(Sweep *s) {
    cudnnHandle_t handle;
    expect_cuda(cudaStreamCreateWithFlags(&s->timer.stream, cudaStreamNonBlocking));
    if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS ||
        cudnnSetStream(handle, s->timer.stream) != CUDNN_STATUS_SUCCESS)
        fail("cuDNN does not start");
    s->target = (UnetCudnnTarget){.api = &unet_cudnn_linked, .handle = handle};
    s->timer.target = &s->target;
}

static void close_device(Sweep *s) {
    unet_cuda_timer_close(&s->timer);
    (void)cudaFree(s->timer.memory);
    (void)cudnnDestroy(s->target.handle);
    (void)cudaStreamDestroy(s->timer.stream);
}

int sweep(const UnetCudaModel *tables, double seconds, int repeats) {
    Sweep s = {.last = seconds_now() + seconds, .timer = {.repeats = repeats}};
    if (tables->nconvolution == 0)
        fail("this model has no convolution");
    open_device(&s);
    take_memory(&s, tables);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < tables->nconvolution && seconds_now() < s.last; i++)
            if (is_first(tables, i))
                sweep_one(&s, &tables->convolution[i], i, pass == 1);
    close_device(&s);
    return 0;
}
