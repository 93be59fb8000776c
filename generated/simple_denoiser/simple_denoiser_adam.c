/* simple_denoiser_adam.c - Adam and, `DECOUPLED`, AdamW, in PyTorch's order of operations.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
#include <math.h>

void KERNEL()(real *restrict p, const real *restrict g, real *restrict m, real *restrict v,
                          const double *scale, double rate, int64_t step) {
    SIZES;
    const double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    const double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    const real speed = (real)(rate / bias1), root_scale = (real)bias2, epsilon = (real)EPSILON;
    const real shrink = (real)(1 - rate * WEIGHT_DECAY), decay = (real)WEIGHT_DECAY;
    const real keep1 = (real)BETA1, keep2 = (real)BETA2, add1 = (real)(1 - BETA1), add2 = (real)(1 - BETA2);
    const real unscale = SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long chunk = 0; chunk < (unscale > 0 ? COUNT : 0); chunk += CHUNK) {
        const long end = chunk + CHUNK < COUNT ? chunk + CHUNK : COUNT;
#pragma omp simd
        for (long i = chunk; i < end; i++) {
            real old = DECOUPLED ? p[i] * shrink : p[i];
            real gradient = DECOUPLED ? g[i] * unscale : g[i] * unscale + decay * p[i];
            m[i] = keep1 * m[i] + add1 * gradient;
            v[i] = keep2 * v[i] + add2 * gradient * gradient;
            p[i] = old - speed * m[i] / (sqrtf(v[i]) / root_scale + epsilon);
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
    enum { COUNT = 77392, SCALED = 0, DECOUPLED = 0 }; \
    UNUSED static const double WEIGHT_DECAY = 0, BETA1 = 0.90000000000000002, BETA2 = 0.999, \
        EPSILON = 1e-08
#include "simple_denoiser_adam.c"

#endif
