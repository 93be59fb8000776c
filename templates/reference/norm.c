/* norm.c - normalisation by given means and variances, of each of GROUPS groups of channels: of each
 * sample, or, if BATCH, for all samples the same; LEAKY: with a leaky ReLU behind it, with slopes that are
 * weights, if LEARNT. */
#include "prologue.c"

#define KERNEL norm
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(real v, long set, int c, const real *mean, const real *variance,
                                const real *w, const real *b, const real *slopes) {
    SIZES;
    const long g = set * MEAN.sample + c / (C / GROUPS);
    const double z = ((double)v - (double)mean[g]) / sqrt((double)variance[g] + EPSILON);
    const double y = AFFINE ? z * (double)w[c] + (double)b[c] : z;
    const double slope = LEARNT ? (double)slopes[SHARED ? 0 : c] : SLOPE;
    return (real)(LEAKY && y <= 0 ? slope * y : y);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x, const real *mean,
                          const real *variance, const real *w, const real *b, const real *slopes) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? KERNEL_point(load(x, element(&X, i, c, r / H, r % H, p)), BATCH ? 0 : i,
                                               c, mean, variance, w, b, slopes)
                                : 0);
}
/* END */
