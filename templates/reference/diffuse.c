/* diffuse.c - a tensor with noise, or what a network is asked to tell of both. */
#include "draws.c"

#define KERNEL diffuse
#include "../example.h"

/* BEGIN */
#include <unet/functions.h>

UNUSED static real KERNEL_mixed(int time, real picture, real noise) {
    SIZES;
    const int makes = WHICH;
    const double kept = sqrt(VALUES[time]), added = sqrt(1 - VALUES[time]);
    return makes == UNET_DIFFUSED_PICTURE ? (real)(kept * (double)picture + added * (double)noise)
           : makes == UNET_DIFFUSED_NOISE ? noise
                                          : (real)(kept * (double)noise - added * (double)picture);
}

/* An element that is stored as tensors are, or as the loader leaves it. */
UNUSED static void KERNEL_store(void *y, long i, real value) {
    SIZES;
    if (Y_STAGED)
        ((real *)y)[i] = value;
    else
        store(y, i, value);
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, void *y,
                          const void *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const uint64_t times = draws_diffusion(seed, step, NUMBER, start + i, EVALUATION);
                    const uint64_t key = draws_diffusion(seed, step, NUMBER + 1, start + i, EVALUATION);
                    const uint32_t point = draws_at(key, (uint32_t)r * (uint32_t)W + (uint32_t)p);
                    const real picture = c < C && x != NULL
                                             ? load_either(X_STAGED, x, element(&X, i, c, r / H, r % H, p))
                                             : 0;
                    const real mixed =
                        KERNEL_mixed(draws_below(times, COUNT), picture, draws_normal(point, c));
                    KERNEL_store(y, element(&Y, i, c, r / H, r % H, p), c < C ? mixed : 0);
                }
}
/* END */
