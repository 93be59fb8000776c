/* sgd.c - stochastic gradient descent with PyTorch's momentum. */
#include "codes.c"

#define KERNEL sgd
#include "../example.h"

/* BEGIN */
/* The numbers that elements of a step share. */
typedef struct {
    real speed, part, decay, factor;
    int first;
} KERNEL_Step;

UNUSED static KERNEL_Step KERNEL_step(const double *scale, const double *norm, double rate, int64_t step,
                                      int decays) {
    SIZES;
    const int first = SCALED ? scale[STEPS_TAKEN] == 1 : step == 1;
    return (KERNEL_Step){(real)rate, first ? 1 : (real)(1 - DAMPENING), decays ? (real)WEIGHT_DECAY : 0,
                         CLIPS    ? (real)norm[FACTOR]
                         : SCALED ? (real)scale[UNSCALE]
                                  : 1,
                         first};
}

UNUSED static void KERNEL_elements(KERNEL_Step step, long count, real *restrict p, const real *restrict g,
                                   real *restrict momentum, real *restrict average) {
    SIZES;
    const real keep = (real)MOMENTUM, limit = (real)CLIP, hold = (real)AVERAGE, add = (real)(1 - AVERAGE);
#pragma omp simd
    for (long i = 0; i < count; i++) {
        real gradient = g[i] * step.factor;
        if (CLIP > 0)
            gradient = gradient > limit ? limit : gradient < -limit ? -limit : gradient;
        gradient += step.decay * p[i];
        if (MOMENTUM != 0) {
            real before = step.first ? 0 : momentum[i];
            momentum[i] = keep * before + step.part * gradient;
            gradient = NESTEROV ? gradient + keep * momentum[i] : momentum[i];
        }
        p[i] -= step.speed * gradient;
        if (AVERAGED)
            average[i] = hold * average[i] + add * p[i];
    }
}

/* The tensors with a state in codes, which all decay. */
UNUSED static void KERNEL_coded(KERNEL_Step step, real *p, const real *g, void *momentum, real *average) {
    SIZES;
    CodeBook book;
    code_book(&book, 1);
    const long *tensor = TENSOR;
#pragma omp for schedule(static)
    for (long b = 0; b < TENSOR[4 * TENSORS]; b++) {
        while (b >= tensor[4])
            tensor += 4;
        const StateBlock block = state_block(tensor, b);
        real buffer[UNET_CODE_BLOCK];
        decode_block(&book, momentum, block, buffer);
        KERNEL_elements(step, block.count, p + block.first, g + block.first, buffer,
                        AVERAGED ? average + block.first : NULL);
        encode_block(&book, momentum, block, buffer);
    }
}

UNUSED static void KERNEL(real *p, const real *g, void *momentum, real *average, const double *scale,
                          const double *norm, long decayed, double rate, int64_t step, long from, long to) {
    SIZES;
    const long *rest = TENSOR + 4 * TENSORS;
    real *buffer = state_reals(momentum, rest);
    from += rest[1];
    for (int spared = 0; spared < 2; spared++) { /* those whose weights do not decay are last */
        const KERNEL_Step now = KERNEL_step(scale, norm, rate, step, !spared);
        const long begin = spared && decayed > from ? decayed : from;
        const long end = !spared && decayed < to ? decayed : to;
        if (now.factor == 0)
            return;
        if (TENSORS > 0 && !spared)
            KERNEL_coded(now, p, g, momentum, average);
#pragma omp for schedule(static)
        for (long chunk = begin; chunk < end; chunk += CHUNK)
            KERNEL_elements(now, chunk + CHUNK < end ? CHUNK : end - chunk, p + chunk, g + chunk,
                            MOMENTUM != 0 ? buffer + (chunk - from) : NULL,
                            AVERAGED ? average + chunk : NULL);
    }
}
/* END */
