/* adam.c - Adam and, `DECOUPLED`, AdamW. */
#include "prologue.c"

#define KERNEL adam
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *p, const real *g, real *m, real *v, const double *scale, double rate,
                          int64_t step) {
    SIZES;
    double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    real unscale = SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long i = 0; i < (unscale > 0 ? COUNT : 0); i++) {
        real gradient = g[i] * unscale;
        if (DECOUPLED)
            p[i] *= (real)(1 - rate * WEIGHT_DECAY);
        else
            gradient += (real)WEIGHT_DECAY * p[i];
        m[i] = (real)BETA1 * m[i] + (real)(1 - BETA1) * gradient;
        v[i] = (real)BETA2 * v[i] + (real)(1 - BETA2) * gradient * gradient;
        real root = (real)sqrt((double)v[i]) / (real)bias2;
        p[i] -= (real)(rate / bias1) * m[i] / (root + (real)EPSILON);
    }
}
/* END */
