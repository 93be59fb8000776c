/* simple_denoiser_adam.c - Adam, AdamW (`DECOUPLED`) and AMSGrad (`AMSGRAD`), in PyTorch's order of operations.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
#include <math.h>

void KERNEL()(real *restrict p, const real *restrict g, real *restrict m, real *restrict v,
                          real *restrict most, real *restrict average, const double *scale,
                          const double *norm, long decayed, double rate, int64_t step, long from, long to) {
    SIZES;
    const double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    const double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    const real speed = (real)(rate / bias1), root_scale = (real)bias2, epsilon = (real)EPSILON;
    const real keep1 = (real)BETA1, keep2 = (real)BETA2, add1 = (real)(1 - BETA1), add2 = (real)(1 - BETA2);
    const real factor = CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1;
    const real limit = (real)CLIP, hold = (real)AVERAGE, add = (real)(1 - AVERAGE);
    for (int spared = 0; spared < 2 && factor != 0; spared++) { /* the last do not decay */
        const long begin = spared && decayed > from ? decayed : from;
        const long end = !spared && decayed < to ? decayed : to;
        const double weight_decay = spared ? 0 : WEIGHT_DECAY;
        const real shrink = (real)(1 - rate * weight_decay), decay = (real)weight_decay;
#pragma omp for schedule(static)
        for (long chunk = begin; chunk < end; chunk += CHUNK) {
            const long stop = chunk + CHUNK < end ? chunk + CHUNK : end;
#pragma omp simd
            for (long i = chunk; i < stop; i++) {
                real gradient = g[i] * factor;
                if (CLIP > 0)
                    gradient = gradient > limit ? limit : gradient < -limit ? -limit : gradient;
                real old = DECOUPLED ? p[i] * shrink : p[i];
                gradient = DECOUPLED ? gradient : gradient + decay * p[i];
                m[i - from] = keep1 * m[i - from] + add1 * gradient;
                v[i - from] = keep2 * v[i - from] + add2 * gradient * gradient;
                if (AMSGRAD)
                    most[i - from] = v[i - from] < most[i - from] ? most[i - from] : v[i - from];
                p[i] = old - speed * m[i - from] /
                                 (sqrtf(AMSGRAD ? most[i - from] : v[i - from]) / root_scale + epsilon);
                if (AVERAGED)
                    average[i] = hold * average[i] + add * p[i];
            }
        }
    }
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* adam: adam of train: all parameters */
#define KERNEL(part) simple_denoiser_adam_0##part
#define SIZES \
    enum { SCALED = 0, CLIPS = 0, AVERAGED = 0, DECOUPLED = 0, AMSGRAD = 0 }; \
    UNUSED static const double CLIP = 0, AVERAGE = 0, WEIGHT_DECAY = 0, BETA1 = 0.90000000000000002, \
        BETA2 = 0.999, EPSILON = 1e-08
#include "simple_denoiser_adam.c"

#endif
