/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict p, const real *restrict g, real *restrict momentum,
                          const double *scale, double rate, int64_t step) {
    SIZES;
    const real speed = (real)rate, decay = (real)WEIGHT_DECAY, keep = (real)MOMENTUM;
    const int first = SCALED ? scale[STEPS_TAKEN] == 1 : step == 1;
    const real unscale = SCALED ? (real)scale[UNSCALE] : 1;
    const real part = first ? 1 : (real)(1 - DAMPENING);
#pragma omp for schedule(static)
    for (long chunk = 0; chunk < (unscale > 0 ? COUNT : 0); chunk += CHUNK) {
        const long end = chunk + CHUNK < COUNT ? chunk + CHUNK : COUNT;
#pragma omp simd
        for (long i = chunk; i < end; i++) {
            real gradient = g[i] * unscale + decay * p[i];
            if (MOMENTUM != 0) {
                real before = first ? 0 : momentum[i];
                momentum[i] = keep * before + part * gradient;
                gradient = NESTEROV ? gradient + keep * momentum[i] : momentum[i];
            }
            p[i] -= speed * gradient;
        }
    }
}
/* END */
