/* adam.cu - Adam and, `DECOUPLED`, AdamW, in PyTorch's order of operations. */
#include "prologue.cuh"

#define KERNEL adam
#include "../example_cuda.h"

/* BEGIN */
/* What is the same for all elements of a step. */
struct KERNEL_Step {
    real speed, root_scale, shrink, unscale;
};

DEVICE KERNEL_Step KERNEL_step(const UnetControl *control, const double *scale) {
    SIZES;
    const double rate = control->learning_rate, step = SCALED ? scale[STEPS_TAKEN] : (double)control->step;
    return {(real)(rate / (1 - pow(BETA1, step))), (real)sqrt(1 - pow(BETA2, step)),
            (real)(1 - rate * WEIGHT_DECAY), SCALED ? (real)scale[UNSCALE] : 1};
}

DEVICE void KERNEL_update(KERNEL_Step step, real *p, real g, real *m, real *v) {
    SIZES;
    const real old = DECOUPLED ? *p * step.shrink : *p;
    g *= step.unscale;
    const real gradient = DECOUPLED ? g : g + (real)WEIGHT_DECAY * *p;
    *m = (real)BETA1 * *m + (real)(1 - BETA1) * gradient;
    *v = (real)BETA2 * *v + (real)(1 - BETA2) * gradient * gradient;
    *p = old - step.speed * *m / (sqrtf(*v) / step.root_scale + (real)EPSILON);
}

static __global__ void KERNEL_sweep(real *__restrict__ p, const real *__restrict__ g, real *__restrict__ m,
                                    real *__restrict__ v, const double *scale, const UnetControl *control) {
    SIZES;
    const KERNEL_Step step = KERNEL_step(control, scale);
    if (step.unscale == 0)
        return;
    const unsigned first = thread_index(), rest = COUNT / 4 * 4 + first;
    for (unsigned i = first; 4 * i + 3 < COUNT; i += gridDim.x * THREADS) {
        Four value = reinterpret_cast<Four *>(p)[i], mean = reinterpret_cast<Four *>(m)[i];
        Four square = reinterpret_cast<Four *>(v)[i];
        const Four gradient = reinterpret_cast<const Four *>(g)[i];
        for (int k = 0; k < 4; k++)
            KERNEL_update(step, value.of + k, gradient.of[k], mean.of + k, square.of + k);
        reinterpret_cast<Four *>(p)[i] = value;
        reinterpret_cast<Four *>(m)[i] = mean;
        reinterpret_cast<Four *>(v)[i] = square;
    }
    if (rest < COUNT)
        KERNEL_update(step, p + rest, g[rest], m + rest, v + rest);
}

LAUNCHER void KERNEL(UnetLaunch at, real *p, const real *g, real *m, real *v, const double *scale) {
    SIZES;
    LAUNCH(at, KERNEL_sweep, sweep_blocks(COUNT / 4 + 1), p, g, m, v, scale, at.control);
}
/* END */
