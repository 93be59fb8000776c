/* sweep.c - how long each convolution of a model takes by each engine that cuDNN has for it, on the device:
 *
 *   PROGRAM sweep SECONDS REPEATS
 *
 * writes one line of JSON a result, as it goes.  First the engines that are compiled already, the first
 * eight of each convolution; then those that cuDNN compiles when asked, the first two of each.  Nothing new
 * is begun after SECONDS.  A time is the median of three rounds of REPEATS launches on the same operands,
 * which are random numbers: a device computes zeros faster.  Convolutions that differ in nothing but their
 * engine are measured once.
 */
#include "harness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST = 8, FIRST_COMPILED = 2, ROUNDS = 3, SLOT = 256 };
static const int64_t most_workspace = INT64_C(512) << 20;

typedef struct {
    UnetCudnnTarget target;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    char *memory; /* of the device: five operands of so many bytes each, then workspace */
    int64_t operand, workspace;
    double last; /* moment after which nothing begins */
    int repeats;
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

static int64_t points(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

/* Of the largest operand, in f32. */
static int64_t operand_bytes(const UnetConvolution *c) {
    const int64_t x = c->batch * points(c->in) * c->in_channels,
                  y = c->batch * points(c->out) * c->out_channels,
                  w = c->out_channels * points(c->kernel) * c->in_channels;
    const int64_t most = x > y ? x : y;
    return ((most > w ? most : w) * (c->type == UNET_F32 ? 4 : 2) + w * 4 + SLOT - 1) / SLOT * SLOT;
}

static bool is_same(const UnetConvolution *a, const UnetConvolution *b) {
    bool same = a->kind == b->kind && a->type == b->type && a->result_type == b->result_type &&
                a->accumulate == b->accumulate && a->bias == b->bias && a->relu == b->relu &&
                a->batch == b->batch && a->in_channels == b->in_channels &&
                a->out_channels == b->out_channels;
    for (int k = 0; same && k < 3; k++)
        same = a->in[k] == b->in[k] && a->out[k] == b->out[k] && a->kernel[k] == b->kernel[k] &&
               a->stride[k] == b->stride[k] && a->dilation[k] == b->dilation[k] &&
               a->before[k] == b->before[k] && a->after[k] == b->after[k];
    return same;
}

static bool is_first(const UnetCudaModel *tables, int32_t i) {
    for (int32_t k = 0; k < i; k++)
        if (is_same(&tables->convolution[k], &tables->convolution[i]))
            return false;
    return true;
}

/* ---- operands ---- */

/* Numbers of either sign between an eighth and a half, in any type: of 16 bits, two in a word. */
static uint32_t random_word(UnetType type, uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    const uint32_t r = *state ^ *state >> 15; /* the low bits of *STATE repeat soon */
    if (type == UNET_F32)
        return (r & 0x80ffffffu) | 0x3e000000u;
    const uint32_t exponent = type == UNET_BF16 ? 0x3e003e00u : 0x30003000u;
    return ((r ^ r << 13) & (type == UNET_BF16 ? 0x80ff80ffu : 0x87ff87ffu)) | exponent;
}

static void take_memory(Sweep *s, const UnetCudaModel *tables) {
    enum { OPERANDS = 5, BLOCK = 1 << 20 };
    uint32_t state = 1;
    for (int32_t i = 0; i < tables->nconvolution; i++) {
        const int64_t bytes = operand_bytes(&tables->convolution[i]);
        s->operand = bytes > s->operand ? bytes : s->operand;
    }
    size_t available, all;
    expect_cuda(cudaMemGetInfo(&available, &all));
    s->workspace = (int64_t)(available / 4) < most_workspace ? (int64_t)(available / 4) : most_workspace;
    const size_t bytes = (size_t)(OPERANDS * s->operand);
    expect_cuda(cudaMalloc((void **)&s->memory, bytes + (size_t)s->workspace));
    uint32_t *block = malloc(BLOCK);
    if (block == NULL)
        fail("out of memory");
    for (size_t i = 0; i < BLOCK / sizeof *block; i++)
        block[i] = random_word(tables->convolution[0].type, &state);
    for (size_t at = 0; at < bytes; at += BLOCK)
        expect_cuda(cudaMemcpyAsync(s->memory + at, block, bytes - at < BLOCK ? bytes - at : BLOCK,
                                    cudaMemcpyHostToDevice, s->stream));
    expect_cuda(cudaStreamSynchronize(s->stream));
    free(block);
}

/* ---- one engine ---- */

static void execute(const Sweep *s, const UnetConvolution *c, const UnetCudnnPlan *plan) {
    UnetError error;
    char *at[5];
    for (int i = 0; i < 5; i++)
        at[i] = s->memory + i * s->operand;
    if (unet_cudnn_execute(&s->target, c, plan, at[0], at[1], at[2], c->bias ? at[3] : NULL,
                           at[4] + s->operand, &error) != UNET_OK)
        fail(error.text);
}

static double median_of_three(const double t[ROUNDS]) {
    const double low = t[0] < t[1] ? t[0] : t[1], high = t[0] < t[1] ? t[1] : t[0];
    return t[2] < low ? low : t[2] > high ? high : t[2];
}

static double time_plan(const Sweep *s, const UnetConvolution *c, const UnetCudnnPlan *plan) {
    double seconds[ROUNDS];
    execute(s, c, plan);
    for (int round = 0; round < ROUNDS; round++) {
        float milliseconds = 0;
        expect_cuda(cudaEventRecord(s->begin, s->stream));
        for (int k = 0; k < s->repeats; k++)
            execute(s, c, plan);
        expect_cuda(cudaEventRecord(s->end, s->stream));
        expect_cuda(cudaEventSynchronize(s->end));
        expect_cuda(cudaEventElapsedTime(&milliseconds, s->begin, s->end));
        seconds[round] = 1e-3 * (double)milliseconds / s->repeats;
    }
    return median_of_three(seconds);
}

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

bool same_engine(const UnetEngine *a, const UnetEngine *b) {
    bool same = a->engine == b->engine && a->nknob == b->nknob;
    for (int32_t i = 0; same && i < a->nknob; i++)
        same = a->knob[i].type == b->knob[i].type && a->knob[i].value == b->knob[i].value;
    return same;
}

static void measure(const Sweep *s, const UnetConvolution *of, int32_t number,
                    const UnetCudnnCandidate *candidate, bool is_planned) {
    UnetConvolution c = *of;
    UnetCudnnPlan plan;
    UnetError error = {""};
    c.engine = candidate->engine;
    c.engine.workspace = s->workspace;
    const double begin = seconds_now();
    const UnetStatus status = unet_cudnn_plan(&s->target, &c, &plan, &error);
    const double planning = seconds_now() - begin;
    printf("{\"convolution\": %" PRId32 ", \"form\": \"%s\", \"sizes\": \"%" PRId64 " x %" PRId64
           " x %" PRId64 ", %" PRId64 " to %" PRId64 ", window %" PRId64 " x %" PRId64 "\", ",
           number, form_name(&c), c.batch, c.in[1], c.in[2], c.in_channels, c.out_channels, c.kernel[1],
           c.kernel[2]);
    print_engine(status == UNET_OK && plan.pinned ? &plan.engine : &candidate->engine);
    printf(", \"runtime compiled\": %s, \"planned\": %s, \"planning\": %.4f, \"seconds\": ",
           candidate->runtime_compiled ? "true" : "false", is_planned ? "true" : "false", planning);
    if (status == UNET_OK && plan.pinned)
        printf("%.9f}\n", time_plan(s, &c, &plan));
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
                      !(has_pin && same_engine(&list[i].engine, &c->engine));
        for (int32_t k = 0; k < i && is_new; k++)
            is_new = !same_engine(&list[k].engine, &list[i].engine);
        if (!is_new || seconds_now() > s->last)
            continue;
        measure(s, c, number, &list[i], false);
        taken++;
    }
}

static void open_device(Sweep *s) {
    expect_cuda(cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking));
    expect_cuda(cudaEventCreate(&s->begin));
    expect_cuda(cudaEventCreate(&s->end));
    cudnnHandle_t handle;
    if (cudnnCreate(&handle) != CUDNN_STATUS_SUCCESS ||
        cudnnSetStream(handle, s->stream) != CUDNN_STATUS_SUCCESS)
        fail("cuDNN does not start");
    s->target = (UnetCudnnTarget){.api = &unet_cudnn_linked, .handle = handle};
}

static void close_device(Sweep *s) {
    (void)cudaFree(s->memory);
    (void)cudnnDestroy(s->target.handle);
    (void)cudaEventDestroy(s->begin);
    (void)cudaEventDestroy(s->end);
    (void)cudaStreamDestroy(s->stream);
}

int sweep(const UnetCudaModel *tables, double seconds, int repeats) {
    Sweep s = {.last = seconds_now() + seconds, .repeats = repeats};
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
