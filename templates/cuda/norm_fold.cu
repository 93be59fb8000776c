/* norm_fold.cu - makes the weights and the bias of a convolution together with its normalisation, from the
 * weights of both.  Weight i is of output channel i / INNER % CO.  Without weights (AFFINE is 0), makes a
 * factor and a summand for each channel, of the normalisation alone. */
#include "prologue.cuh"

#define KERNEL norm_fold
#include "../example_cuda.h"

/* BEGIN */
static __device__ double KERNEL_factor(unsigned channel, const real *variance, const real *gamma) {
    SIZES;
    return (AFFINE ? (double)gamma[channel] : 1) / sqrt((double)variance[channel] + EPSILON);
}

static __global__ void KERNEL_weights(real *__restrict__ folded, real *__restrict__ shift,
                                      const real *__restrict__ w, const real *__restrict__ b,
                                      const real *__restrict__ mean, const real *__restrict__ variance,
                                      const real *__restrict__ gamma, const real *__restrict__ beta) {
    SIZES;
    const unsigned i = thread_index();
    if (i >= COUNT)
        return;
    folded[i] = (real)((AFFINE ? (double)w[i] : 1) * KERNEL_factor(i / INNER % CO, variance, gamma));
    if (i >= CO) /* there are as many weights, or more */
        return;
    const double bias = BIAS ? (double)b[i] : 0, offset = AFFINE ? (double)beta[i] : 0;
    shift[i] = (real)((bias - (double)mean[i]) * KERNEL_factor(i, variance, gamma) + offset);
}

LAUNCHER void KERNEL(UnetLaunch at, real *folded, real *shift, const real *w, const real *b,
                     const real *mean, const real *variance, const real *gamma, const real *beta) {
    SIZES;
    LAUNCH(at, KERNEL_weights, blocks_for(COUNT), folded, shift, w, b, mean, variance, gamma, beta);
}
/* END */
