/* rmsprop.cu - PyTorch's RMSprop: momentum, and `CENTERED` by the mean of gradients. */
#include "codes.cuh"

#define KERNEL rmsprop
#include "../example_cuda.h"

/* BEGIN */
/* The numbers that all elements of a step share. */
struct KERNEL_Step {
    real rate, unscale;
};

DEVICE KERNEL_Step KERNEL_step(const UnetControl *control, const double *scale, const double *norm) {
    SIZES;
    return {(real)control->learning_rate, CLIPS ? (real)norm[FACTOR] : SCALED ? (real)scale[UNSCALE] : 1};
}

/* Updates an element; *mean and *momentum are neither read nor changed where there are none.  A square less
 * the square of the mean may be negative by a rounding. */
DEVICE void KERNEL_update(KERNEL_Step step, bool decays, real *p, real g, real *square, real *mean,
                          real *momentum, real *average) {
    SIZES;
    const real gradient = clipped(g * step.unscale, CLIP) + (decays ? (real)WEIGHT_DECAY : 0) * *p;
    *square = (real)ALPHA * *square + (real)(1 - ALPHA) * gradient * gradient;
    real variance = *square;
    if (CENTERED) {
        *mean = (real)ALPHA * *mean + (real)(1 - ALPHA) * gradient;
        variance = positive(variance - *mean * *mean);
    }
    real change = gradient / (sqrtf(variance) + (real)EPSILON);
    if (MOMENTUM != 0)
        change = *momentum = (real)MOMENTUM * *momentum + change;
    *p -= step.rate * change;
    if (AVERAGED)
        *average = (real)AVERAGE * *average + (real)(1 - AVERAGE) * *p;
}

static __global__ void KERNEL_sweep(real *__restrict__ p, const real *__restrict__ g,
                                    real *__restrict__ square, real *__restrict__ mean,
                                    real *__restrict__ momentum, real *__restrict__ average,
                                    const double *scale, const double *norm, const UnetControl *control,
                                    unsigned from, unsigned to, unsigned decayed) {
    SIZES;
    const KERNEL_Step step = KERNEL_step(control, scale, norm);
    if (step.unscale == 0)
        return;
    const unsigned first = thread_index(), count = COUNT - (unsigned)TENSOR[4 * TENSORS + 1];
    for (unsigned i = first; !SHARDED && 4 * i + 3 < count; i += gridDim.x * THREADS) {
        Four value = reinterpret_cast<Four *>(p)[i], squares = reinterpret_cast<Four *>(square)[i];
        Four means = {}, moment = {}, averages = {};
        const Four gradient = reinterpret_cast<const Four *>(g)[i];
        if (CENTERED)
            means = reinterpret_cast<Four *>(mean)[i];
        if (MOMENTUM != 0)
            moment = reinterpret_cast<Four *>(momentum)[i];
        if (AVERAGED)
            averages = reinterpret_cast<Four *>(average)[i];
        for (int k = 0; k < 4; k++)
            KERNEL_update(step, 4 * i < decayed, value.of + k, gradient.of[k], squares.of + k, means.of + k,
                          moment.of + k, averages.of + k);
        reinterpret_cast<Four *>(p)[i] = value;
        if (AVERAGED)
            reinterpret_cast<Four *>(average)[i] = averages;
        reinterpret_cast<Four *>(square)[i] = squares;
        if (CENTERED)
            reinterpret_cast<Four *>(mean)[i] = means;
        if (MOMENTUM != 0)
            reinterpret_cast<Four *>(momentum)[i] = moment;
    }
    for (unsigned i = (SHARDED ? from : count / 4 * 4) + first; i < to; i += gridDim.x * THREADS)
        KERNEL_update(step, i < decayed, p + i, g[i], square + (i - from),
                      CENTERED ? mean + (i - from) : NULL, MOMENTUM != 0 ? momentum + (i - from) : NULL,
                      AVERAGED ? average + i : NULL);
}

/* The tensors with a state in codes, which all decay and have no mean. */
static __global__ void KERNEL_coded(real *__restrict__ p, const real *__restrict__ g,
                                    uint8_t *__restrict__ square, uint8_t *__restrict__ momentum,
                                    real *__restrict__ average, const double *scale, const double *norm,
                                    const UnetControl *control) {
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
        real squares = decoded(&book[1], square, block), mean = 0, buffer = 0;
        if (MOMENTUM != 0)
            buffer = decoded(&book[0], momentum, block);
        if (threadIdx.x < block.count)
            KERNEL_update(step, true, p + i, g[i], &squares, &mean, &buffer, AVERAGED ? average + i : NULL);
        encode(&book[1], square, block, squares);
        if (MOMENTUM != 0)
            encode(&book[0], momentum, block, buffer);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, real *p, const real *g, void *square, void *mean, void *momentum,
                     real *average, const double *scale, const double *norm, unsigned decayed) {
    SIZES;
    constexpr unsigned CODED = (unsigned)TENSOR[4 * TENSORS + 1], LEFT = COUNT - CODED;
    constexpr long BYTES = TENSOR[4 * TENSORS + 3];
    unsigned from = 0, to = LEFT;
    if (TENSORS > 0)
        LAUNCH_BLOCKS(at, KERNEL_coded, coded_blocks(TENSOR[4 * TENSORS]), p, g,
                      static_cast<uint8_t *>(square), static_cast<uint8_t *>(momentum), average, scale,
                      norm, at.control);
    if (SHARDED)
        unet_cuda_slice(at, COUNT, PROCESSES, &from, &to);
    if (LEFT > 0)
        LAUNCH(at, KERNEL_sweep, sweep_blocks((SHARDED ? (unsigned)COUNT / PROCESSES : LEFT / 4) + 1),
               p + CODED, g + CODED, state_reals(square, BYTES), state_reals(mean, BYTES),
               state_reals(momentum, BYTES), AVERAGED ? average + CODED : NULL, scale, norm, at.control,
               from, to, decayed > CODED ? decayed - CODED : 0);
}
/* END */
