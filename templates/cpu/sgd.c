/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict p, const real *restrict g, real *restrict momentum,
                          real *restrict average, const double *scale, const double *norm, long decayed,
                          double rate, int64_t step, long from, long to) {
    SIZES;
    const int first = SCALED ? scale[STEPS_TAKEN] == 1 : step == 1;
    const real speed = (real)rate, keep = (real)MOMENTUM, part = first ? 1 : (real)(1 - DAMPENING);
    const real factor = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    const real limit = (real)CLIP, hold = (real)AVERAGE, add = (real)(1 - AVERAGE);
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
                if (MOMENTUM != 0) {
                    real before = first ? 0 : momentum[i - from];
                    momentum[i - from] = keep * before + part * gradient;
                    gradient = NESTEROV ? gradient + keep * momentum[i - from] : momentum[i - from];
                }
                p[i] -= speed * gradient;
                if (AVERAGED)
                    average[i] = hold * average[i] + add * p[i];
            }
        }
    }
}
/* END */
