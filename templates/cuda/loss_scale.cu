/* loss_scale.cu - have the gradients overflowed?  Decides whether the step is taken, and the next scale. */
#include "prologue.cuh"

#define KERNEL loss_scale
#include "../example_cuda.h"

/* BEGIN */
/* How many elements of its share a block finds that are not finite. */
static __global__ void KERNEL_look(double *__restrict__ scratch, const real *__restrict__ g) {
    SIZES;
    int bad = 0;
    for (int run = 0; run < RUNS; run++)
        for (unsigned i = (unsigned)RUN[2 * run] + thread_index(); i < RUN[2 * run + 1];
             i += BANDS * THREADS)
            bad += !isfinite(g[AT[run] + i]);
    const double total = block_sum(bad);
    if (threadIdx.x == 0)
        scratch[blockIdx.x] = total;
}

static __global__ void KERNEL_judge(double *state, const double *scratch, double *correction) {
    SIZES;
    double bad = 0;
    for (int band = threadIdx.x; band < BANDS; band += THREADS)
        bad += scratch[band];
    const bool overflow = block_sum(bad) > 0;
    if (threadIdx.x > 0)
        return;
    state[UNSCALE] = overflow ? 0 : 1 / state[LOSS_SCALE];
    state[STEPS_TAKEN] += !overflow;
    correction[0] = 1 - pow(BETA1, state[STEPS_TAKEN]);
    correction[1] = 1 - pow(BETA2, state[STEPS_TAKEN]);
    state[GOOD_STEPS] = overflow ? 0 : state[GOOD_STEPS] + 1;
    if (overflow)
        state[LOSS_SCALE] = clamp(state[LOSS_SCALE] / 2, 0x1p-100, 0x1p100);
    if (state[GOOD_STEPS] == GROWTH_INTERVAL) {
        state[LOSS_SCALE] = clamp(state[LOSS_SCALE] * 2, 0x1p-100, 0x1p100);
        state[GOOD_STEPS] = 0;
    }
}

LAUNCHER void KERNEL(UnetLaunch at, double *scratch, double *state, const real *g) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= BANDS, "a number for each block");
    LAUNCH_BLOCKS(at, KERNEL_look, BANDS, scratch, g);
    LAUNCH_BLOCKS(at, KERNEL_judge, 1, state, scratch, at.correction);
}
/* END */
