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

/* Where result, operands and bias begin, and where the last ends. */
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

/* The same block again and again. */
static cudaError_t fill(const UnetCudaTimer *timer, UnetType type, int64_t bytes, uint32_t *block) {
    uint32_t state = 1;
    cudaError_t code = cudaSuccess;
    for (size_t i = 0; i < BLOCK / sizeof *block; i++)
        block[i] = random_word(type, &state);
    for (int64_t at = 0; at < bytes && code == cudaSuccess; at += BLOCK)
        code = cudaMemcpyAsync(timer->memory + at, block, (size_t)(bytes - at < BLOCK ? bytes - at : BLOCK),
                               cudaMemcpyHostToDevice, timer->stream);
    return code == cudaSuccess ? cudaStreamSynchronize(timer->stream) : code;
}

UnetStatus unet_cuda_timer_open(UnetCudaTimer *timer, UnetType type, int64_t operands, UnetError *error) {
    timer->begin = timer->end = NULL;
    uint32_t *block = malloc(BLOCK);
    if (block == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for random numbers");
    cudaError_t code = fill(timer, type, operands < timer->bytes ? operands : timer->bytes, block);
    free(block);
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

/* Of each of COUNT launches. */
static UnetStatus time_launches(const UnetCudaTimer *timer, UnetCudaLaunch *launch, const void *of,
                                int32_t count, double *seconds, UnetError *error) {
    float milliseconds = 0;
    cudaError_t code = cudaEventRecord(timer->begin, timer->stream);
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < count && status == UNET_OK; i++)
        status = launch(timer, of, error);
    if (status != UNET_OK)
        return status;
    if (code == cudaSuccess)
        code = cudaEventRecord(timer->end, timer->stream);
    if (code == cudaSuccess)
        code = cudaEventSynchronize(timer->end);
    if (code == cudaSuccess)
        code = cudaEventElapsedTime(&milliseconds, timer->begin, timer->end);
    *seconds = 1e-3 * (double)milliseconds / count;
    return unet_cuda_checked(code, "timing a convolution", error);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The first launch loads the kernels, the second says how many make a round. */
UnetStatus unet_cuda_timer_launches(const UnetCudaTimer *timer, UnetCudaLaunch *launch, const void *of,
                                    double *seconds, UnetError *error) {
    double round[ROUNDS] = {0};
    UnetStatus status = time_launches(timer, launch, of, 1, &round[0], error);
    if (status == UNET_OK)
        status = time_launches(timer, launch, of, 1, &round[0], error);
    int32_t count = 1;
    while (count < timer->repeats && round[0] * count < round_seconds)
        count++;
    for (int i = 0; i < ROUNDS && status == UNET_OK; i++)
        status = time_launches(timer, launch, of, count, &round[i], error);
    if (status != UNET_OK)
        return status;
    qsort(round, ROUNDS, sizeof *round, ascending);
    *seconds = round[ROUNDS / 2];
    return UNET_OK;
}

typedef struct {
    const UnetConvolution *c;
    const UnetCudnnPlan *plan;
} Planned;

static UnetStatus launch_convolution(const UnetCudaTimer *timer, const void *of, UnetError *error) {
    const Planned *p = of;
    int64_t at[OPERANDS + 1];
    places(p->c, at);
    char *const m = timer->memory;
    return unet_cudnn_execute(timer->target, p->c, p->plan, m + at[0], m + at[1], m + at[2],
                              p->c->bias ? m + at[3] : NULL, m + at[OPERANDS], error);
}

UnetStatus unet_cuda_timer_run(const UnetCudaTimer *timer, const UnetConvolution *c,
                               const UnetCudnnPlan *plan, double *seconds, UnetError *error) {
    if (unet_cuda_operand_bytes(c) + plan->engine.workspace > timer->bytes)
        return unet_fail(error, UNET_BUG, "a convolution is timed in too little memory");
    return unet_cuda_timer_launches(timer, launch_convolution, &(Planned){c, plan}, seconds, error);
}
