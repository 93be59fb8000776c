/* loss_scale.c - have the gradients overflowed?  Decides whether the step is taken, and the next scale. */
#include "prologue.c"

#define KERNEL loss_scale
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL_judge(double *state, int overflow) {
    SIZES;
    state[UNSCALE] = overflow ? 0 : 1 / state[LOSS_SCALE];
    state[STEPS_TAKEN] += !overflow;
    state[GOOD_STEPS] = overflow ? 0 : state[GOOD_STEPS] + 1;
    if (overflow)
        state[LOSS_SCALE] = clamp(state[LOSS_SCALE] / 2, 0x1p-100, 0x1p100);
    if (state[GOOD_STEPS] == GROWTH_INTERVAL) {
        state[LOSS_SCALE] = clamp(state[LOSS_SCALE] * 2, 0x1p-100, 0x1p100);
        state[GOOD_STEPS] = 0;
    }
}

UNUSED static void KERNEL(double *scratch, double *state, const real *g) {
    SIZES;
#pragma omp for schedule(static)
    for (int band = 0; band < BANDS; band++) {
        const long begin = (long)COUNT * band / BANDS, end = (long)COUNT * (band + 1) / BANDS;
        int bad = 0;
        for (int run = 0; run < RUNS; run++)
            for (long i = RUN[2 * run] > begin ? RUN[2 * run] : begin; i < end && i < RUN[2 * run + 1]; i++)
                bad |= !isfinite(g[AT[run] + i]);
        scratch[band] = bad;
    }
#pragma omp single
    {
        int overflow = 0;
        for (int band = 0; band < BANDS; band++)
            overflow |= scratch[band] > 0;
        KERNEL_judge(state, overflow);
    }
}
/* END */
