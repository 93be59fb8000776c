/* rmsprop.c - PyTorch's RMSprop: momentum, and `CENTERED` by the mean of gradients. */
#include "prologue.c"

#define KERNEL rmsprop
#include "../example.h"

/* BEGIN */
#include <math.h>

/* A square less the square of the mean may be negative by a rounding. */
UNUSED static void KERNEL(real *restrict p, const real *restrict g, real *restrict square,
                          real *restrict mean, real *restrict momentum, real *restrict average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    const real speed = (real)rate, keep = (real)ALPHA, rest = (real)(1 - ALPHA), epsilon = (real)EPSILON;
    const real factor = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    const real limit = (real)CLIP, hold = (real)AVERAGE, add = (real)(1 - AVERAGE);
    (void)step; /* it has no correction of a bias */
    for (int spared = 0; spared < 2 && factor != 0;
         spared++) { /* those whose weights do not decay are last */
        const long begin = spared && decayed > from ? decayed : from;
        const long end = !spared && decayed < to ? decayed : to;
        const real decay = spared ? 0 : (real)WEIGHT_DECAY;
#pragma omp for schedule(static)
        for (long chunk = begin; chunk < end; chunk += CHUNK) {
            const long stop = chunk + CHUNK < end ? chunk + CHUNK : end;
#pragma omp simd
            for (long i = chunk; i < stop; i++) {
                real gradient = g[i] * factor;
                if (CLIP > 0)
                    gradient = gradient > limit ? limit : gradient < -limit ? -limit : gradient;
                gradient += decay * p[i];
                square[i - from] = keep * square[i - from] + rest * gradient * gradient;
                real variance = square[i - from];
                if (CENTERED) {
                    mean[i - from] = keep * mean[i - from] + rest * gradient;
                    variance -= mean[i - from] * mean[i - from];
                    variance = variance < 0 ? 0 : variance;
                }
                gradient /= sqrtf(variance) + epsilon;
                if (MOMENTUM != 0)
                    gradient = momentum[i - from] = (real)MOMENTUM * momentum[i - from] + gradient;
                p[i] -= speed * gradient;
                if (AVERAGED)
                    average[i] = hold * average[i] + add * p[i];
            }
        }
    }
}
/* END */
