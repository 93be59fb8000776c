/* norm_track.c - running averages of means and variances; the variance of all there could be is a little
 * larger than the variance of the batch, which is a sample. */
#include "prologue.c"

#define KERNEL norm_track
#define AT_RUN_TIME RING, C, POINTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *running_mean, real *running_var, const real *mean,
                          const real *variance) {
    SIZES;
    const double count = (double)n * POINTS, larger = count > 1 ? count / (count - 1) : 1;
#pragma omp for schedule(static)
    for (int c = 0; c < C; c++) {
        running_mean[c] = (real)((1 - MOMENTUM) * (double)running_mean[c] + MOMENTUM * (double)mean[c]);
        running_var[c] =
            (real)((1 - MOMENTUM) * (double)running_var[c] + MOMENTUM * larger * (double)variance[c]);
    }
}
/* END */
