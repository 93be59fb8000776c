/* timer.c - how long the device takes for a convolution by an engine (timer.h). */
#include "timer.h"

#include <stdlib.h>

#include "state.h"

enum { SLOT = 256, OPERANDS = 4, ROUNDS = 5, BLOCK = 1 << 20 };
static const double round_seconds = 1e-3; /* that a round takes at least, if the launches allow it */

/* ---- operands -----------------------------------------------------------------------------------------
 */

static int64_t rounded(int64_t elements, int64_t size) {
    return (elements * size + SLOT - 1) / SLOT * SLOT;
}

static int64_t points(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

/* The begins of result, operands and bias, and the end of the last. */
static void places(const UnetConvolution *c, int64_t at[OPERANDS + 1]) {
    const int64_t size = c->type == UNET_F32 ? 4 : 2;
    const int64_t x = rounded(c->batch * points(c->in) * c->in_channels, size),
                  y = rounded(c->batch * points(c->out) * c->out_channels, size),
                  w = c->out_channels * points(c->kernel) * c->in_channels;
    const int64_t result[] = {[UNET_FORWARD] = y,
                              [UNET_BACKWARD_DATA] = x,
                              [UNET_BACKWARD_FILTER] = rounded(w, c->result_type == UNET_F32 ? 4 : size)};
    const int64_t bytes[OPERANDS] = {result[c->kind], c->kind == UNET_BACKWARD_DATA ? y : x,
                                     c->kind == UNET_BACKWARD_FILTER ? y : rounded(w, size),
                                     c->bias ? rounded(c->out_channels, size) : 0};
    at[0] = 0;
    for (int i = 0; i < OPERANDS; i++)
        at[i + 1] = at[i] + bytes[i];
}

int64_t unet_cuda_operand_bytes(const UnetConvolution *c) {
    int64_t at[OPERANDS + 1];
    places(c, at);
    return at[OPERANDS];
}

/* Numbers of either sign between an eighth and a half, in any type: of 16 bits, two in a word. */
static uint32_t random_word(UnetType type, uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    const uint32_t r = *state ^ *state >> 15; /* the low bits of *STATE repeat soon */
    if (type == UNET_F32)
        return (r & 0x80ffffffu) | 0x3e000000u;
    const uint32_t exponent = type == UNET_BF16 ? 0x3e003e00u : 0x30003000u;
    return ((r ^ r << 13) & (type == UNET_BF16 ? 0x80ff80ffu : 0x87ff87ffu)) | exponent;
}

/* Copies BLOCK to the beginning of the memory, and the filled part to the rest, again and again. */
static cudaError_t fill(const UnetCudaTimer *timer, UnetType type, uint32_t *block) {
    uint32_t state = 1;
    for (size_t i = 0; i < BLOCK / sizeof *block; i++)
        block[i] = random_word(type, &state);
    const int64_t first = timer->bytes < BLOCK ? timer->bytes : BLOCK;
    cudaError_t code =
        cudaMemcpyAsync(timer->memory, block, (size_t)first, cudaMemcpyHostToDevice, timer->stream);
    for (int64_t filled = first; filled < timer->bytes && code == cudaSuccess;) {
        const int64_t more = timer->bytes - filled < filled ? timer->bytes - filled : filled;
        code = cudaMemcpyAsync(timer->memory + filled, timer->memory, (size_t)more,
                               cudaMemcpyDeviceToDevice, timer->stream);
        filled += more;
    }
    return code == cudaSuccess ? cudaStreamSynchronize(timer->stream) : code;
}

UnetStatus unet_cuda_timer_open(UnetCudaTimer *timer, UnetType type, UnetError *error) {
    int device = 0, cache = 0;
    timer->begin = timer->end = NULL;
    uint32_t *block = malloc(BLOCK);
    if (block == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for random numbers");
    cudaError_t code = fill(timer, type, block);
    free(block);
    if (code == cudaSuccess)
        code = cudaGetDevice(&device);
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device);
    timer->cache = cache;
    if (code == cudaSuccess)
        code = cudaEventCreate(&timer->begin);
    if (code == cudaSuccess)
        code = cudaEventCreate(&timer->end);
    return unet_cuda_checked(code, "timing convolutions", error);
}

void unet_cuda_timer_close(UnetCudaTimer *timer) {
    if (timer->begin != NULL)
        (void)cudaEventDestroy(timer->begin);
    if (timer->end != NULL)
        (void)cudaEventDestroy(timer->end);
}

/* ---- timing -------------------------------------------------------------------------------------------
 */

/* A launch, and where the operands of several lie. */
typedef struct {
    UnetCudaLaunch *launch;
    const void *of;
    int64_t stride; /* bytes from one place to the next */
    int32_t places;
} Timed;

/* So many places that two uses of one are further apart than the cache is large. */
static Timed spread(const UnetCudaTimer *timer, UnetCudaLaunch *launch, const void *of, int64_t bytes) {
    const int64_t stride = bytes > 0 ? (bytes + SLOT - 1) / SLOT * SLOT : SLOT;
    int64_t places = 1;
    while (places < timer->repeats && places * stride < 2 * timer->cache &&
           places * stride + bytes <= timer->bytes)
        places++;
    return (Timed){.launch = launch, .of = of, .stride = stride, .places = (int32_t)places};
}

static UnetStatus launch_all(const UnetCudaTimer *timer, const Timed *t, int32_t count, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < count && status == UNET_OK; i++)
        status = t->launch(timer, t->of, timer->memory + i % t->places * t->stride, error);
    return status;
}

/* COUNT launches as a graph.  A capture that fails must still be ended. */
static UnetStatus capture(const UnetCudaTimer *timer, const Timed *t, int32_t count,
                          cudaGraphExec_t *executable, UnetError *error) {
    cudaGraph_t graph = NULL;
    UnetStatus status = unet_cuda_checked(
        cudaStreamBeginCapture(timer->stream, cudaStreamCaptureModeThreadLocal), "timing", error);
    if (status != UNET_OK)
        return status;
    status = launch_all(timer, t, count, error);
    cudaError_t code = cudaStreamEndCapture(timer->stream, &graph);
    if (code == cudaSuccess && status == UNET_OK)
        code = cudaGraphInstantiate(executable, graph, 0);
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
    return status == UNET_OK ? unet_cuda_checked(code, "timing a graph", error) : status;
}

/* The time between the events around one launch of the graph. */
static cudaError_t time_graph(const UnetCudaTimer *timer, cudaGraphExec_t graph, double *seconds) {
    float milliseconds = 0;
    cudaError_t code = cudaEventRecord(timer->begin, timer->stream);
    if (code == cudaSuccess)
        code = cudaGraphLaunch(graph, timer->stream);
    if (code == cudaSuccess)
        code = cudaEventRecord(timer->end, timer->stream);
    if (code == cudaSuccess)
        code = cudaEventSynchronize(timer->end);
    if (code == cudaSuccess)
        code = cudaEventElapsedTime(&milliseconds, timer->begin, timer->end);
    *seconds = 1e-3 * (double)milliseconds;
    return code;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of ROUNDS of each of COUNT launches, behind a first one, which brings the graph to the device.
 */
static UnetStatus time_launches(const UnetCudaTimer *timer, const Timed *t, int32_t count, int rounds,
                                double *seconds, UnetError *error) {
    double round[ROUNDS];
    cudaGraphExec_t graph = NULL;
    UnetStatus status = capture(timer, t, count, &graph, error);
    cudaError_t code = status == UNET_OK ? time_graph(timer, graph, &round[0]) : cudaSuccess;
    for (int i = 0; i < rounds && status == UNET_OK && code == cudaSuccess; i++)
        code = time_graph(timer, graph, &round[i]);
    if (graph != NULL)
        (void)cudaGraphExecDestroy(graph);
    if (status == UNET_OK)
        status = unet_cuda_checked(code, "timing a graph", error);
    if (status != UNET_OK)
        return status;
    qsort(round, (size_t)rounds, sizeof *round, ascending);
    *seconds = round[rounds / 2] / count;
    return UNET_OK;
}

/* The first launch, which is not captured, loads the kernels; the next says how many make a round. */
UnetStatus unet_cuda_timer_launches(const UnetCudaTimer *timer, UnetCudaLaunch *launch, const void *of,
                                    int64_t bytes, double *seconds, UnetError *error) {
    const Timed t = spread(timer, launch, of, bytes);
    UnetStatus status = launch_all(timer, &t, 1, error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaStreamSynchronize(timer->stream), "timing", error);
    if (status == UNET_OK)
        status = time_launches(timer, &t, 1, 1, seconds, error);
    int32_t count = 1;
    while (status == UNET_OK && count < timer->repeats && *seconds * count < round_seconds)
        count++;
    return status == UNET_OK ? time_launches(timer, &t, count, ROUNDS, seconds, error) : status;
}

typedef struct {
    const UnetConvolution *c;
    const UnetCudnnPlan *plan;
} Planned;

static UnetStatus launch_convolution(const UnetCudaTimer *timer, const void *of, char *m,
                                     UnetError *error) {
    const Planned *p = of;
    int64_t at[OPERANDS + 1];
    places(p->c, at);
    return unet_cudnn_execute(timer->target, p->c, p->plan, m + at[0], m + at[1], m + at[2],
                              p->c->bias ? m + at[3] : NULL, m + at[OPERANDS], error);
}

UnetStatus unet_cuda_timer_run(const UnetCudaTimer *timer, const UnetConvolution *c,
                               const UnetCudnnPlan *plan, double *seconds, UnetError *error) {
    const int64_t bytes = unet_cuda_operand_bytes(c) + plan->engine.workspace;
    if (bytes > timer->bytes)
        return unet_fail(error, UNET_BUG, "a convolution is timed in too little memory");
    return unet_cuda_timer_launches(timer, launch_convolution, &(Planned){c, plan}, bytes, seconds, error);
}
