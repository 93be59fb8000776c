/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *p, const real *g, real *momentum, real *average, const double *scale,
                          const double *norm, long decayed, double rate, int64_t step, long from, long to) {
    SIZES;
    int first = SCALED ? scale[STEPS_TAKEN] == 1 : step == 1;
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++) {
        real gradient = g[i] * unscale;
        if (CLIP > 0)
            gradient = (real)clamp((double)gradient, -CLIP, CLIP);
        if (i < decayed)
            gradient += (real)WEIGHT_DECAY * p[i];
        if (MOMENTUM != 0) {
            momentum[i - from] =
                first ? gradient : (real)MOMENTUM * momentum[i - from] + (real)(1 - DAMPENING) * gradient;
            gradient = NESTEROV ? gradient + (real)MOMENTUM * momentum[i - from] : momentum[i - from];
        }
        p[i] -= (real)rate * gradient;
        if (AVERAGED)
            average[i] = (real)AVERAGE * average[i] + (real)(1 - AVERAGE) * p[i];
    }
}
/* END */
