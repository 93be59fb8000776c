/* adam.c - Adam, AdamW (`DECOUPLED`) and AMSGrad (`AMSGRAD`), in PyTorch's order of operations. */
#include "codes.c"

#define KERNEL adam
#include "../example.h"

/* BEGIN */
/* The numbers that elements of a step share. */
typedef struct {
    real speed, root_scale, shrink, decay, factor;
} KERNEL_Step;

UNUSED static KERNEL_Step KERNEL_step(const double *scale, const double *norm, double rate, int64_t step,
                                      int decays) {
    SIZES;
    const double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    const double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    const double decay = decays ? WEIGHT_DECAY : 0;
    return (KERNEL_Step){(real)(rate / bias1), (real)bias2, (real)(1 - rate * decay), (real)decay,
                         CLIPS    ? (real)norm[FACTOR]
                         : SCALED ? (real)scale[UNSCALE]
                                  : 1};
}

UNUSED static void KERNEL_elements(KERNEL_Step step, long count, real *restrict p, const real *restrict g,
                                   real *restrict m, real *restrict v, real *restrict most,
                                   real *restrict average) {
    SIZES;
    const real keep1 = (real)BETA1, keep2 = (real)BETA2, add1 = (real)(1 - BETA1), add2 = (real)(1 - BETA2);
    const real limit = (real)CLIP, hold = (real)AVERAGE, add = (real)(1 - AVERAGE), epsilon = (real)EPSILON;
#pragma omp simd
    for (long i = 0; i < count; i++) {
        real gradient = g[i] * step.factor;
        if (CLIP > 0)
            gradient = gradient > limit ? limit : gradient < -limit ? -limit : gradient;
        real old = DECOUPLED ? p[i] * step.shrink : p[i];
        gradient = DECOUPLED ? gradient : gradient + step.decay * p[i];
        m[i] = keep1 * m[i] + add1 * gradient;
        v[i] = keep2 * v[i] + add2 * gradient * gradient;
        if (AMSGRAD)
            most[i] = v[i] < most[i] ? most[i] : v[i];
        p[i] = old - step.speed * m[i] / (sqrtf(AMSGRAD ? most[i] : v[i]) / step.root_scale + epsilon);
        if (AVERAGED)
            average[i] = hold * average[i] + add * p[i];
    }
}

/* The tensors with a state in codes, which all decay. */
UNUSED static void KERNEL_coded(KERNEL_Step step, real *p, const real *g, void *m, void *v, void *most,
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
        real mean[UNET_CODE_BLOCK], square[UNET_CODE_BLOCK], largest[UNET_CODE_BLOCK];
        decode_block(&first, m, block, mean);
        decode_block(&second, v, block, square);
        raise_moments((real)LEAST_SQUARE, block.count, mean, square);
        if (AMSGRAD)
            decode_block(&second, most, block, largest);
        KERNEL_elements(step, block.count, p + block.first, g + block.first, mean, square, largest,
                        AVERAGED ? average + block.first : NULL);
        encode_block(&first, m, block, mean);
        encode_block(&second, v, block, square);
        if (AMSGRAD)
            encode_block(&second, most, block, largest);
    }
}

UNUSED static void KERNEL(real *p, const real *g, void *m, void *v, void *most, real *average,
                          const double *scale, const double *norm, long decayed, double rate, int64_t step,
                          long from, long to) {
    SIZES;
    const long *rest = TENSOR + 4 * TENSORS;
    real *mean = state_reals(m, rest), *square = state_reals(v, rest), *largest = state_reals(most, rest);
    from += rest[1];
    for (int spared = 0; spared < 2; spared++) { /* the last do not decay */
        const KERNEL_Step now = KERNEL_step(scale, norm, rate, step, !spared);
        const long begin = spared && decayed > from ? decayed : from;
        const long end = !spared && decayed < to ? decayed : to;
        if (now.factor == 0)
            return;
        if (TENSORS > 0 && !spared)
            KERNEL_coded(now, p, g, m, v, most, average);
#pragma omp for schedule(static)
        for (long chunk = begin; chunk < end; chunk += CHUNK)
            KERNEL_elements(now, chunk + CHUNK < end ? CHUNK : end - chunk, p + chunk, g + chunk,
                            mean + (chunk - from), square + (chunk - from),
                            AMSGRAD ? largest + (chunk - from) : NULL, AVERAGED ? average + chunk : NULL);
    }
}
/* END */
