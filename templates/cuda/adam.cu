/* adam.cu - Adam, AdamW (`DECOUPLED`) and AMSGrad (`AMSGRAD`), in PyTorch's order of operations. */
#include "codes.cuh"

#define KERNEL adam
#include "../example_cuda.h"

/* BEGIN */
/* The numbers that all elements of a step share. */
struct KERNEL_Step {
    real speed, root_scale, shrink, unscale;
};

DEVICE KERNEL_Step KERNEL_step(const UnetControl *control, const double *scale, const double *norm) {
    SIZES;
    const double rate = control->learning_rate;
    return {(real)(rate / control->correction[0]), (real)sqrt(control->correction[1]),
            (real)(1 - rate * WEIGHT_DECAY),
            CLIPS    ? (real)norm[FACTOR]
            : SCALED ? (real)scale[UNSCALE]
                     : 1};
}

/* Updates an element; without AMSGRAD *most is neither read nor changed. */
DEVICE void KERNEL_update(KERNEL_Step step, bool decays, real *p, real g, real *m, real *v, real *most,
                          real *average) {
    SIZES;
    const real old = DECOUPLED && decays ? *p * step.shrink : *p;
    g = clipped(g * step.unscale, CLIP);
    const real gradient = !DECOUPLED && decays ? g + (real)WEIGHT_DECAY * *p : g;
    *m = (real)BETA1 * *m + (real)(1 - BETA1) * gradient;
    *v = (real)BETA2 * *v + (real)(1 - BETA2) * gradient * gradient;
    real square = *v;
    if (AMSGRAD)
        square = *most = square < *most ? *most : square;
    *p = old - step.speed * *m / (sqrtf(square) / step.root_scale + (real)EPSILON);
    if (AVERAGED)
        *average = (real)AVERAGE * *average + (real)(1 - AVERAGE) * *p;
}

static __global__ void KERNEL_sweep(real *__restrict__ p, const real *__restrict__ g, real *__restrict__ m,
                                    real *__restrict__ v, real *__restrict__ most,
                                    real *__restrict__ average, const double *scale, const double *norm,
                                    const UnetControl *control, unsigned from, unsigned to,
                                    unsigned decayed) {
    SIZES;
    const KERNEL_Step step = KERNEL_step(control, scale, norm);
    if (step.unscale == 0)
        return;
    const unsigned first = thread_index(), count = COUNT - (unsigned)TENSOR[4 * TENSORS + 1];
    for (unsigned i = first; !SHARDED && 4 * i + 3 < count; i += gridDim.x * THREADS) {
        Four value = reinterpret_cast<Four *>(p)[i], mean = reinterpret_cast<Four *>(m)[i];
        Four square = reinterpret_cast<Four *>(v)[i], largest = {}, averages = {};
        const Four gradient = reinterpret_cast<const Four *>(g)[i];
        if (AMSGRAD)
            largest = reinterpret_cast<Four *>(most)[i];
        if (AVERAGED)
            averages = reinterpret_cast<Four *>(average)[i];
        for (int k = 0; k < 4; k++)
            KERNEL_update(step, 4 * i < decayed, value.of + k, gradient.of[k], mean.of + k, square.of + k,
                          largest.of + k, averages.of + k);
        reinterpret_cast<Four *>(p)[i] = value;
        if (AVERAGED)
            reinterpret_cast<Four *>(average)[i] = averages;
        reinterpret_cast<Four *>(m)[i] = mean;
        reinterpret_cast<Four *>(v)[i] = square;
        if (AMSGRAD)
            reinterpret_cast<Four *>(most)[i] = largest;
    }
    for (unsigned i = (SHARDED ? from : count / 4 * 4) + first; i < to; i += gridDim.x * THREADS)
        KERNEL_update(step, i < decayed, p + i, g[i], m + (i - from), v + (i - from),
                      AMSGRAD ? most + (i - from) : NULL, AVERAGED ? average + i : NULL);
}

/* The tensors with a state in codes, which all decay. */
static __global__ void KERNEL_coded(real *__restrict__ p, const real *__restrict__ g,
                                    uint8_t *__restrict__ m, uint8_t *__restrict__ v,
                                    uint8_t *__restrict__ most, real *__restrict__ average,
                                    const double *scale, const double *norm, const UnetControl *control) {
    SIZES;
    SHARED(CodeBook, book, [2]);
    const KERNEL_Step step = KERNEL_step(control, scale, norm);
    if (step.unscale == 0)
        return;
    fill_code_book(&book[0], 1);
    fill_code_book(&book[1], 0);
    __syncthreads();
    for (long b = blockIdx.x; b < TENSOR[4 * TENSORS]; b += gridDim.x) {
        const StateBlock block = state_block(TENSOR, TENSORS, b);
        const long i = block.first + threadIdx.x;
        const real before = decoded(&book[1], v, block);
        real mean = decoded(&book[0], m, block), largest = 0;
        const real bound = (real)LEAST_SQUARE * mean * mean; /* see unet/codes.h */
        real square = bound > before ? bound : before;
        if (AMSGRAD)
            largest = decoded(&book[1], most, block);
        if (threadIdx.x < block.count)
            KERNEL_update(step, true, p + i, g[i], &mean, &square, &largest, AVERAGED ? average + i : NULL);
        encode(&book[0], m, block, mean);
        encode(&book[1], v, block, square);
        if (AMSGRAD)
            encode(&book[1], most, block, largest);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, real *p, const real *g, void *m, void *v, void *most, real *average,
                     const double *scale, const double *norm, unsigned decayed) {
    SIZES;
    constexpr unsigned CODED = (unsigned)TENSOR[4 * TENSORS + 1], LEFT = COUNT - CODED;
    constexpr long BYTES = TENSOR[4 * TENSORS + 3];
    unsigned from = 0, to = LEFT;
    if (TENSORS > 0)
        LAUNCH_BLOCKS(at, KERNEL_coded, coded_blocks(TENSOR[4 * TENSORS]), p, g, static_cast<uint8_t *>(m),
                      static_cast<uint8_t *>(v), static_cast<uint8_t *>(most), average, scale, norm,
                      at.control);
    if (SHARDED)
        unet_cuda_slice(at, COUNT, PROCESSES, &from, &to);
    if (LEFT > 0)
        LAUNCH_BLOCKS(at, KERNEL_sweep,
                      sweep_blocks((SHARDED ? (unsigned)COUNT / PROCESSES : LEFT / 4) + 1), p + CODED,
                      g + CODED, state_reals(m, BYTES), state_reals(v, BYTES), state_reals(most, BYTES),
                      AVERAGED ? average + CODED : NULL, scale, norm, at.control, from, to,
                      decayed > CODED ? decayed - CODED : 0);
}
/* END */
