/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *p, const real *g, real *momentum, double rate, int64_t step) {
    SIZES;
#pragma omp for schedule(static)
    for (long i = 0; i < COUNT; i++) {
        real gradient = g[i] + (real)WEIGHT_DECAY * p[i];
        if (MOMENTUM != 0) {
            momentum[i] =
                step == 1 ? gradient : (real)MOMENTUM * momentum[i] + (real)(1 - DAMPENING) * gradient;
            gradient = NESTEROV ? gradient + (real)MOMENTUM * momentum[i] : momentum[i];
        }
        p[i] -= (real)rate * gradient;
    }
}
/* END */
