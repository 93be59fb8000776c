/* rmsprop.c - PyTorch's RMSprop: momentum, and `CENTERED` by the mean of gradients. */
#include "codes.c"

#define KERNEL rmsprop
#include "../example.h"

/* BEGIN */
/* The numbers that elements of a step share. */
typedef struct {
    real speed, decay, factor;
} KERNEL_Step;

UNUSED static KERNEL_Step KERNEL_step(const double *scale, const double *norm, double rate, int decays) {
    SIZES;
    return (KERNEL_Step){(real)rate, decays ? (real)WEIGHT_DECAY : 0,
                         CLIPS    ? (real)norm[FACTOR]
                         : SCALED ? (real)scale[UNSCALE]
                                  : 1};
}

/* A square less the square of the mean may be negative by a rounding. */
UNUSED static void KERNEL_elements(KERNEL_Step step, long count, real *restrict p, const real *restrict g,
                                   real *restrict square, real *restrict mean, real *restrict momentum,
                                   real *restrict average) {
    SIZES;
    const real keep = (real)ALPHA, rest = (real)(1 - ALPHA), epsilon = (real)EPSILON;
    const real limit = (real)CLIP, hold = (real)AVERAGE, add = (real)(1 - AVERAGE);
#pragma omp simd
    for (long i = 0; i < count; i++) {
        real gradient = g[i] * step.factor;
        if (CLIP > 0)
            gradient = gradient > limit ? limit : gradient < -limit ? -limit : gradient;
        gradient += step.decay * p[i];
        square[i] = keep * square[i] + rest * gradient * gradient;
        real variance = square[i];
        if (CENTERED) {
            mean[i] = keep * mean[i] + rest * gradient;
            variance -= mean[i] * mean[i];
            variance = variance < 0 ? 0 : variance;
        }
        gradient /= sqrtf(variance) + epsilon;
        if (MOMENTUM != 0)
            gradient = momentum[i] = (real)MOMENTUM * momentum[i] + gradient;
        p[i] -= step.speed * gradient;
        if (AVERAGED)
            average[i] = hold * average[i] + add * p[i];
    }
}

/* The tensors with a state in codes, which all decay and have no mean. */
UNUSED static void KERNEL_coded(KERNEL_Step step, real *p, const real *g, void *square, void *momentum,
                                real *average) {
    SIZES;
    CodeBook first, second;
    code_book(&first, 1);
    code_book(&second, 0);
    const long *tensor = TENSOR;
#pragma omp for schedule(static)
    for (long b = 0; b < TENSOR[4 * TENSORS]; b++) {
        while (b >= tensor[4])
            tensor += 4;
        const StateBlock block = state_block(tensor, b);
        real squares[UNET_CODE_BLOCK], buffer[UNET_CODE_BLOCK];
        decode_block(&second, square, block, squares);
        if (MOMENTUM != 0)
            decode_block(&first, momentum, block, buffer);
        KERNEL_elements(step, block.count, p + block.first, g + block.first, squares, NULL, buffer,
                        AVERAGED ? average + block.first : NULL);
        encode_block(&second, square, block, squares);
        if (MOMENTUM != 0)
            encode_block(&first, momentum, block, buffer);
    }
}

UNUSED static void KERNEL(real *p, const real *g, void *square, void *mean, void *momentum, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    const long *rest = TENSOR + 4 * TENSORS;
    real *squares = state_reals(square, rest), *means = state_reals(mean, rest),
         *buffer = state_reals(momentum, rest);
    (void)step; /* it has no correction of a bias */
    from += rest[1];
    for (int spared = 0; spared < 2; spared++) { /* those whose weights do not decay are last */
        const KERNEL_Step now = KERNEL_step(scale, norm, rate, !spared);
        const long begin = spared && decayed > from ? decayed : from;
        const long end = !spared && decayed < to ? decayed : to;
        if (now.factor == 0)
            return;
        if (TENSORS > 0 && !spared)
            KERNEL_coded(now, p, g, square, momentum, average);
#pragma omp for schedule(static)
        for (long chunk = begin; chunk < end; chunk += CHUNK)
            KERNEL_elements(now, chunk + CHUNK < end ? CHUNK : end - chunk, p + chunk, g + chunk,
                            squares + (chunk - from), CENTERED ? means + (chunk - from) : NULL,
                            MOMENTUM != 0 ? buffer + (chunk - from) : NULL,
                            AVERAGED ? average + chunk : NULL);
    }
}
/* END */
