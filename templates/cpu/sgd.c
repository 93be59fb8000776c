/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict p, const real *restrict g, real *restrict momentum, double rate,
                          int64_t step) {
    SIZES;
    const real speed = (real)rate, decay = (real)WEIGHT_DECAY, keep = (real)MOMENTUM;
    const real part = step == 1 ? 1 : (real)(1 - DAMPENING);
#pragma omp for schedule(static)
    for (long chunk = 0; chunk < COUNT; chunk += CHUNK) {
        const long end = chunk + CHUNK < COUNT ? chunk + CHUNK : COUNT;
#pragma omp simd
        for (long i = chunk; i < end; i++) {
            real gradient = g[i] + decay * p[i];
            if (MOMENTUM != 0) {
                real before = step == 1 ? 0 : momentum[i];
                momentum[i] = keep * before + part * gradient;
                gradient = NESTEROV ? gradient + keep * momentum[i] : momentum[i];
            }
            p[i] -= speed * gradient;
        }
    }
}
/* END */
