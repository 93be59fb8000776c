/* adam.c - Adam, AdamW (`DECOUPLED`) and AMSGrad (`AMSGRAD`). */
#include "codes.c"

#define KERNEL adam
#include "../example.h"

/* BEGIN */
/* Updates an element; without AMSGRAD *most is neither read nor changed. */
UNUSED static void KERNEL_element(real unscale, double rate, double taken, int decays, real *p, real g,
                                  real *m, real *v, real *most, real *average) {
    SIZES;
    double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    real gradient = g * unscale;
    if (CLIP > 0)
        gradient = (real)clamp((double)gradient, -CLIP, CLIP);
    if (DECOUPLED && decays)
        *p *= (real)(1 - rate * WEIGHT_DECAY);
    if (!DECOUPLED && decays)
        gradient += (real)WEIGHT_DECAY * *p;
    *m = (real)BETA1 * *m + (real)(1 - BETA1) * gradient;
    *v = (real)BETA2 * *v + (real)(1 - BETA2) * gradient * gradient;
    if (AMSGRAD)
        *most = *v < *most ? *most : *v;
    real root = (real)sqrt((double)(AMSGRAD ? *most : *v)) / (real)bias2;
    *p -= (real)(rate / bias1) * *m / (root + (real)EPSILON);
    if (AVERAGED)
        *average = (real)AVERAGE * *average + (real)(1 - AVERAGE) * *p;
}

UNUSED static void KERNEL(real *p, const real *g, void *m, void *v, void *most, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    for (int t = 0; t < (unscale == 0 ? 0 : TENSORS); t++) {
        const long *row = TENSOR + 4 * t;
#pragma omp for schedule(static)
        for (long block = 0; block < row[4] - row[0]; block++) {
            real mean[UNET_CODE_BLOCK], square[UNET_CODE_BLOCK], largest[UNET_CODE_BLOCK];
            decode_block(m, row, block, 1, mean);
            decode_block(v, row, block, 0, square);
            decode_block(most, row, block, 0, largest);
            for (long k = 0; k < UNET_CODE_BLOCK && block * UNET_CODE_BLOCK + k < row[2]; k++) {
                const long i = row[1] + block * UNET_CODE_BLOCK + k;
                const real bound = (real)LEAST_SQUARE * mean[k] * mean[k]; /* see unet/codes.h */
                square[k] = bound > square[k] ? bound : square[k];
                KERNEL_element(unscale, rate, taken, i < decayed, p + i, g[i], mean + k, square + k,
                               largest + k, AVERAGED ? average + i : NULL);
            }
            encode_block(m, row, block, 1, mean);
            encode_block(v, row, block, 0, square);
            encode_block(most, row, block, 0, largest);
        }
    }
    const long *rest = TENSOR + 4 * TENSORS;
    real *mean = state_reals(m, rest), *square = state_reals(v, rest), *largest = state_reals(most, rest);
    from += rest[1];
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++)
        KERNEL_element(unscale, rate, taken, i < decayed, p + i, g[i], mean + (i - from),
                       square + (i - from), AMSGRAD ? largest + (i - from) : NULL,
                       AVERAGED ? average + i : NULL);
}
/* END */
