/* wgrad_end.c - the gradients of a convolution by its weights and its bias, from the sums of a sample that
 * conv_wgrad.c left; ACCUMULATE: added to the numbers in dw and db. */
#include "prologue.c"

#define KERNEL wgrad_end
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *dw, real *db, const double *sums) {
    SIZES;
    const long weights = (long)CO * CI * KD * KH * KW;
#pragma omp for schedule(static)
    for (long k = 0; k < weights + (BIAS ? CO : 0); k++) {
        real *to = k < weights ? &dw[k] : &db[k - weights];
        *to = (ACCUMULATE ? *to : 0) + (real)sums[k];
    }
}
/* END */
