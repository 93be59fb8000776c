/* norm_wgrad.c - gradients of a normalisation by its weights, and what its gradient by the input needs of
 * them: for each mean the means of w dy and of w dy z, where z is what was normalised. */
#include "prologue.c"

#define KERNEL norm_wgrad
#include "../example.h"

/* BEGIN */
/* Adds dy and dy z of channel c of a sample; LEAKY: dy taken back through a leaky ReLU of z w + b. */
UNUSED static void KERNEL_add(double sum[2], int i, int c, const stored *x, const stored *dy, double mean,
                              double deviation, double w, double b) {
    SIZES;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                const double z = ((double)load(x, element(&X, i, c, d, h, p)) - mean) / deviation;
                double v = (double)load(dy, element(&DY, i, c, d, h, p));
                if (LEAKY && z * w + b <= 0)
                    v *= SLOPE;
                sum[0] += v;
                sum[1] += v * z;
            }
}

/* Those of the samples from `first` on, with one mean. */
UNUSED static void KERNEL_group(int first, int end, int g, real *dw, real *db, real *sums, const stored *x,
                                const stored *dy, const real *mean, const real *variance, const real *w,
                                const real *b) {
    SIZES;
    const double count = (double)(end - first) * (C / GROUPS) * D * H * W;
    const long at = first * MEAN.sample + g;
    double all[2] = {0, 0};
    for (int c = g * (C / GROUPS); c < (g + 1) * (C / GROUPS); c++) {
        double sum[2] = {0, 0};
        for (int i = first; i < end; i++)
            KERNEL_add(sum, i, c, x, dy, (double)mean[at], sqrt((double)variance[at] + EPSILON),
                       AFFINE ? (double)w[c] : 1, AFFINE && LEAKY ? (double)b[c] : 0);
        if (AFFINE) {
            const int more = ACCUMULATE || first > 0;
            db[c] = (more ? db[c] : 0) + (real)sum[0];
            dw[c] = (more ? dw[c] : 0) + (real)sum[1];
        }
        all[0] += sum[0] * (AFFINE ? (double)w[c] : 1);
        all[1] += sum[1] * (AFFINE ? (double)w[c] : 1);
    }
    sums[first * SUMS.sample + g] = (real)(all[0] / count);
    sums[first * SUMS.sample + GROUPS + g] = (real)(all[1] / count);
}

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, real *sums, const stored *x,
                          const stored *dy, const real *mean, const real *variance, const real *w,
                          const real *b) {
    SIZES;
    (void)scratch;
#pragma omp for schedule(static)
    for (int g = 0; g < GROUPS; g++)
        for (int set = 0; set < (BATCH ? 1 : n); set++)
            KERNEL_group(set, BATCH ? n : set + 1, g, dw, db, sums, x, dy, mean, variance, w, b);
}
/* END */
