/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "codes.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
/* Updates an element; with MOMENTUM 0 *momentum is neither read nor changed. */
UNUSED static void KERNEL_element(real unscale, double rate, int first, int decays, real *p, real g,
                                  real *momentum, real *average) {
    SIZES;
    real gradient = g * unscale;
    if (CLIP > 0)
        gradient = (real)clamp((double)gradient, -CLIP, CLIP);
    if (decays)
        gradient += (real)WEIGHT_DECAY * *p;
    if (MOMENTUM != 0) {
        *momentum = first ? gradient : (real)MOMENTUM * *momentum + (real)(1 - DAMPENING) * gradient;
        gradient = NESTEROV ? gradient + (real)MOMENTUM * *momentum : *momentum;
    }
    *p -= (real)rate * gradient;
    if (AVERAGED)
        *average = (real)AVERAGE * *average + (real)(1 - AVERAGE) * *p;
}

UNUSED static void KERNEL(real *p, const real *g, void *momentum, real *average, const double *scale,
                          const double *norm, long decayed, double rate, int64_t step, long from, long to) {
    SIZES;
    int first = SCALED ? scale[STEPS_TAKEN] == 1 : step == 1;
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    for (int t = 0; t < (unscale == 0 ? 0 : TENSORS); t++) {
        const long *row = TENSOR + 4 * t;
#pragma omp for schedule(static)
        for (long block = 0; block < row[4] - row[0]; block++) {
            real buffer[UNET_CODE_BLOCK];
            decode_block(momentum, row, block, 1, buffer);
            for (long k = 0; k < UNET_CODE_BLOCK && block * UNET_CODE_BLOCK + k < row[2]; k++) {
                const long i = row[1] + block * UNET_CODE_BLOCK + k;
                KERNEL_element(unscale, rate, first, i < decayed, p + i, g[i], buffer + k,
                               AVERAGED ? average + i : NULL);
            }
            encode_block(momentum, row, block, 1, buffer);
        }
    }
    const long *rest = TENSOR + 4 * TENSORS;
    real *buffer = state_reals(momentum, rest);
    from += rest[1];
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++)
        KERNEL_element(unscale, rate, first, i < decayed, p + i, g[i],
                       MOMENTUM != 0 ? buffer + (i - from) : NULL, AVERAGED ? average + i : NULL);
}
/* END */
