/* rmsprop.c - PyTorch's RMSprop: momentum, and `CENTERED` by the mean of gradients. */
#include "prologue.c"

#define KERNEL rmsprop
#include "../example.h"

/* BEGIN */
/* A square less the square of the mean may be negative by a rounding. */
UNUSED static void KERNEL(real *p, const real *g, real *square, real *mean, real *momentum, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    (void)step; /* it has no correction of a bias */
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++) {
        real gradient = g[i] * unscale;
        if (CLIP > 0)
            gradient = (real)clamp((double)gradient, -CLIP, CLIP);
        if (i < decayed)
            gradient += (real)WEIGHT_DECAY * p[i];
        square[i - from] = (real)ALPHA * square[i - from] + (real)(1 - ALPHA) * gradient * gradient;
        real variance = square[i - from];
        if (CENTERED) {
            mean[i - from] = (real)ALPHA * mean[i - from] + (real)(1 - ALPHA) * gradient;
            variance -= mean[i - from] * mean[i - from];
            variance = variance < 0 ? 0 : variance;
        }
        gradient /= (real)sqrt((double)variance) + (real)EPSILON;
        if (MOMENTUM != 0) {
            momentum[i - from] = (real)MOMENTUM * momentum[i - from] + gradient;
            gradient = momentum[i - from];
        }
        p[i] -= (real)rate * gradient;
        if (AVERAGED)
            average[i] = (real)AVERAGE * average[i] + (real)(1 - AVERAGE) * p[i];
    }
}
/* END */
