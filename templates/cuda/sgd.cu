/* sgd.cu - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.cuh"

#define KERNEL sgd
#include "../example_cuda.h"

/* BEGIN */
/* What is the same for all elements of a step. */
struct KERNEL_Step {
    real rate, unscale;
    bool first;
};

DEVICE KERNEL_Step KERNEL_step(const UnetControl *control, const double *scale) {
    SIZES;
    return {(real)control->learning_rate, SCALED ? (real)scale[UNSCALE] : 1,
            SCALED ? scale[STEPS_TAKEN] == 1 : control->step == 1};
}

/* *momentum is the buffer for *p; with MOMENTUM 0 it is neither read nor changed. */
DEVICE void KERNEL_update(KERNEL_Step step, real *p, real g, real *momentum) {
    SIZES;
    real gradient = g * step.unscale + (real)WEIGHT_DECAY * *p;
    if (MOMENTUM != 0) {
        *momentum = step.first ? gradient : (real)MOMENTUM * *momentum + (real)(1 - DAMPENING) * gradient;
        gradient = NESTEROV ? gradient + (real)MOMENTUM * *momentum : *momentum;
    }
    *p -= step.rate * gradient;
}

static __global__ void KERNEL_sweep(real *__restrict__ p, const real *__restrict__ g,
                                    real *__restrict__ momentum, const double *scale,
                                    const UnetControl *control) {
    SIZES;
    const KERNEL_Step step = KERNEL_step(control, scale);
    if (step.unscale == 0)
        return;
    const unsigned first = thread_index(), rest = COUNT / 4 * 4 + first;
    for (unsigned i = first; 4 * i + 3 < COUNT; i += gridDim.x * THREADS) {
        Four value = reinterpret_cast<Four *>(p)[i], moment = {};
        const Four gradient = reinterpret_cast<const Four *>(g)[i];
        if (MOMENTUM != 0)
            moment = reinterpret_cast<Four *>(momentum)[i];
        for (int k = 0; k < 4; k++)
            KERNEL_update(step, value.of + k, gradient.of[k], moment.of + k);
        reinterpret_cast<Four *>(p)[i] = value;
        if (MOMENTUM != 0)
            reinterpret_cast<Four *>(momentum)[i] = moment;
    }
    if (rest < COUNT)
        KERNEL_update(step, p + rest, g[rest], MOMENTUM != 0 ? momentum + rest : NULL);
}

LAUNCHER void KERNEL(UnetLaunch at, real *p, const real *g, real *momentum, const double *scale) {
    SIZES;
    LAUNCH(at, KERNEL_sweep, sweep_blocks(COUNT / 4 + 1), p, g, momentum, scale, at.control);
}
/* END */
