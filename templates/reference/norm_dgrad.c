/* norm_dgrad.c - gradient of a normalisation by its input; LEAKY: dy is by what a leaky ReLU behind made,
 * with slopes that are weights, if LEARNT. */
#include "prologue.c"

#define KERNEL norm_dgrad
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(double x, double dy, long set, int c, const real *mean,
                                const real *variance, const real *w, const real *sums, const real *b,
                                const real *slopes) {
    SIZES;
    const int g = c / (C / GROUPS);
    const long at = set * MEAN.sample + g, sum = set * SUMS.sample + g;
    const double deviation = sqrt((double)variance[at] + EPSILON), z = (x - (double)mean[at]) / deviation;
    const double weight = AFFINE ? (double)w[c] : 1, y = z * weight + (AFFINE && LEAKY ? (double)b[c] : 0);
    const double below = LEARNT ? (double)slopes[SHARED ? 0 : c] : SLOPE;
    const double slope = (LEAKY && y <= 0 ? below * dy : dy) * weight;
    return (real)((slope - (double)sums[sum] - z * (double)sums[sum + GROUPS]) / deviation);
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy, const real *mean,
                          const real *variance, const real *w, const real *sums, const real *b,
                          const real *slopes) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          c < C ? KERNEL_point((double)load(x, element(&X, i, c, r / H, r % H, p)),
                                               (double)load(dy, element(&DY, i, c, r / H, r % H, p)),
                                               BATCH ? 0 : i, c, mean, variance, w, sums, b, slopes)
                                : 0);
}
/* END */
