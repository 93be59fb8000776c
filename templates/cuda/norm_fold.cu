/* norm_fold.cu - of the weights and the bias of a convolution those of the convolution with its
 * normalisation. Weight i is of output channel i / INNER % CO. */
#include "prologue.cuh"

#define KERNEL norm_fold
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_weights(real *__restrict__ folded, real *__restrict__ shift,
                                      const real *__restrict__ w, const real *__restrict__ b,
                                      const real *__restrict__ mean, const real *__restrict__ variance,
                                      const real *__restrict__ gamma, const real *__restrict__ beta) {
    SIZES;
    const unsigned i = thread_index();
    if (i >= COUNT)
        return;
    const int c = i / INNER % CO;
    folded[i] = (real)(w[i] * ((double)gamma[c] / sqrt((double)variance[c] + EPSILON)));
    if (i >= CO) /* there are as many weights, or more */
        return;
    const double factor = (double)gamma[i] / sqrt((double)variance[i] + EPSILON);
    shift[i] = (real)(((BIAS ? (double)b[i] : 0) - (double)mean[i]) * factor + (double)beta[i]);
}

LAUNCHER void KERNEL(UnetLaunch at, real *folded, real *shift, const real *w, const real *b,
                     const real *mean, const real *variance, const real *gamma, const real *beta) {
    SIZES;
    LAUNCH(at, KERNEL_weights, blocks_for(COUNT), folded, shift, w, b, mean, variance, gamma, beta);
}
/* END */
