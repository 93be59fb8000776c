/* rmsprop.c - PyTorch's RMSprop: momentum, and `CENTERED` by the mean of gradients. */
#include "codes.c"

#define KERNEL rmsprop
#include "../example.h"

/* BEGIN */
/* Updates an element; *mean and *momentum are neither read nor changed where there are none.  A square less
 * the square of the mean may be negative by a rounding. */
UNUSED static void KERNEL_element(real unscale, double rate, int decays, real *p, real g, real *square,
                                  real *mean, real *momentum, real *average) {
    SIZES;
    real gradient = g * unscale;
    if (CLIP > 0)
        gradient = (real)clamp((double)gradient, -CLIP, CLIP);
    if (decays)
        gradient += (real)WEIGHT_DECAY * *p;
    *square = (real)ALPHA * *square + (real)(1 - ALPHA) * gradient * gradient;
    real variance = *square;
    if (CENTERED) {
        *mean = (real)ALPHA * *mean + (real)(1 - ALPHA) * gradient;
        variance -= *mean * *mean;
        variance = variance < 0 ? 0 : variance;
    }
    gradient /= (real)sqrt((double)variance) + (real)EPSILON;
    if (MOMENTUM != 0) {
        *momentum = (real)MOMENTUM * *momentum + gradient;
        gradient = *momentum;
    }
    *p -= (real)rate * gradient;
    if (AVERAGED)
        *average = (real)AVERAGE * *average + (real)(1 - AVERAGE) * *p;
}

UNUSED static void KERNEL(real *p, const real *g, void *square, void *mean, void *momentum, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    (void)step; /* it has no correction of a bias */
    for (int t = 0; t < (unscale == 0 ? 0 : TENSORS); t++) {
        const long *row = TENSOR + 4 * t;
#pragma omp for schedule(static)
        for (long block = 0; block < row[4] - row[0]; block++) {
            real squares[UNET_CODE_BLOCK], means[UNET_CODE_BLOCK], buffer[UNET_CODE_BLOCK];
            decode_block(square, row, block, 0, squares);
            decode_block(mean, row, block, 1, means);
            decode_block(momentum, row, block, 1, buffer);
            for (long k = 0; k < UNET_CODE_BLOCK && block * UNET_CODE_BLOCK + k < row[2]; k++) {
                const long i = row[1] + block * UNET_CODE_BLOCK + k;
                KERNEL_element(unscale, rate, i < decayed, p + i, g[i], squares + k, means + k, buffer + k,
                               AVERAGED ? average + i : NULL);
            }
            encode_block(square, row, block, 0, squares);
            encode_block(mean, row, block, 1, means);
            encode_block(momentum, row, block, 1, buffer);
        }
    }
    const long *rest = TENSOR + 4 * TENSORS;
    real *squares = state_reals(square, rest), *means = state_reals(mean, rest),
         *buffer = state_reals(momentum, rest);
    from += rest[1];
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++)
        KERNEL_element(unscale, rate, i < decayed, p + i, g[i], squares + (i - from),
                       CENTERED ? means + (i - from) : NULL, MOMENTUM != 0 ? buffer + (i - from) : NULL,
                       AVERAGED ? average + i : NULL);
}
/* END */
