/* norm_fold.c - makes the weights and the bias of a convolution together with its normalisation, from the
 * weights of both.  Weight i is of output channel i / INNER % CO.  Without weights (AFFINE is 0), makes a
 * factor and a summand for each channel, of the normalisation alone. */
#include "prologue.c"

#define KERNEL norm_fold
#define AT_RUN_TIME RING, CO, COUNT, INNER
#include "../example.h"

/* BEGIN */
#include <math.h>

UNUSED static double KERNEL_factor(int channel, const real *variance, const real *gamma) {
    SIZES;
    return (AFFINE ? (double)gamma[channel] : 1) / sqrt((double)variance[channel] + EPSILON);
}

UNUSED static void KERNEL(real *folded, real *shift, const real *w, const real *b, const real *mean,
                          const real *variance, const real *gamma, const real *beta) {
    SIZES;
#pragma omp for schedule(static)
    for (int c = 0; c < CO; c++) {
        const double factor = KERNEL_factor(c, variance, gamma);
        shift[c] =
            (real)(((BIAS ? (double)b[c] : 0) - (double)mean[c]) * factor + (AFFINE ? (double)beta[c] : 0));
    }
#pragma omp for schedule(static)
    for (long k = 0; k < COUNT / INNER; k++) {
        const double factor = KERNEL_factor((int)(k % CO), variance, gamma);
        for (long i = k * INNER; i < (k + 1) * INNER; i++)
            folded[i] = (real)((AFFINE ? (double)w[i] : 1) * factor);
    }
}
/* END */
