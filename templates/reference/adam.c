/* adam.c - Adam, AdamW (`DECOUPLED`) and AMSGrad (`AMSGRAD`). */
#include "prologue.c"

#define KERNEL adam
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *p, const real *g, real *m, real *v, real *most, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    real unscale = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long i = from; i < (unscale == 0 ? from : to); i++) {
        real gradient = g[i] * unscale;
        if (CLIP > 0)
            gradient = (real)clamp((double)gradient, -CLIP, CLIP);
        if (DECOUPLED && i < decayed)
            p[i] *= (real)(1 - rate * WEIGHT_DECAY);
        if (!DECOUPLED && i < decayed)
            gradient += (real)WEIGHT_DECAY * p[i];
        m[i - from] = (real)BETA1 * m[i - from] + (real)(1 - BETA1) * gradient;
        v[i - from] = (real)BETA2 * v[i - from] + (real)(1 - BETA2) * gradient * gradient;
        if (AMSGRAD)
            most[i - from] = v[i - from] < most[i - from] ? most[i - from] : v[i - from];
        real root = (real)sqrt((double)(AMSGRAD ? most[i - from] : v[i - from])) / (real)bias2;
        p[i] -= (real)(rate / bias1) * m[i - from] / (root + (real)EPSILON);
        if (AVERAGED)
            average[i] = (real)AVERAGE * average[i] + (real)(1 - AVERAGE) * p[i];
    }
}
/* END */
