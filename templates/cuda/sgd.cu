/* sgd.cu - stochastic gradient descent with PyTorch's momentum. */
#include "prologue.cuh"

#define KERNEL sgd
#include "../example_cuda.h"

/* BEGIN */
/* *momentum is the buffer for *p; with MOMENTUM 0 it is neither read nor changed. */
DEVICE void KERNEL_update(const UnetControl *control, real *p, real g, real *momentum) {
    SIZES;
    real gradient = g + (real)WEIGHT_DECAY * *p;
    if (MOMENTUM != 0) {
        *momentum =
            control->step == 1 ? gradient : (real)MOMENTUM * *momentum + (real)(1 - DAMPENING) * gradient;
        gradient = NESTEROV ? gradient + (real)MOMENTUM * *momentum : *momentum;
    }
    *p -= (real)control->learning_rate * gradient;
}

static __global__ void KERNEL_sweep(real *__restrict__ p, const real *__restrict__ g,
                                    real *__restrict__ momentum, const UnetControl *__restrict__ control) {
    SIZES;
    const unsigned first = thread_index(), rest = COUNT / 4 * 4 + first;
    for (unsigned i = first; 4 * i + 3 < COUNT; i += gridDim.x * THREADS) {
        Four numbers = reinterpret_cast<Four *>(p)[i], moment = {};
        const Four gradient = reinterpret_cast<const Four *>(g)[i];
        if (MOMENTUM != 0)
            moment = reinterpret_cast<Four *>(momentum)[i];
        for (int k = 0; k < 4; k++)
            KERNEL_update(control, numbers.of + k, gradient.of[k], moment.of + k);
        reinterpret_cast<Four *>(p)[i] = numbers;
        if (MOMENTUM != 0)
            reinterpret_cast<Four *>(momentum)[i] = moment;
    }
    if (rest < COUNT)
        KERNEL_update(control, p + rest, g[rest], MOMENTUM != 0 ? momentum + rest : NULL);
}

LAUNCHER void KERNEL(UnetLaunch at, real *p, const real *g, real *momentum) {
    SIZES;
    LAUNCH(at, KERNEL_sweep, sweep_blocks(COUNT / 4 + 1), p, g, momentum, at.control);
}
/* END */
