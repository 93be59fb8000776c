/* norm_wgrad.c - gradients of a normalisation by its weights, and what its gradient by the input needs of
 * them: for each mean the means of w dy and of w dy z, where z is what was normalised.  LEAKY: dy is by
 * what a leaky ReLU behind made; LEARNT: its slopes below zero are weights, SHARED: one for all channels.
 */
#include "prologue.c"

#define KERNEL norm_wgrad
#include "../example.h"

/* BEGIN */
/* Adds dy, dy z and, for a learnt slope, dy y of channel c of a sample; LEAKY: dy taken back through a
 * leaky ReLU of y = z w + b. */
UNUSED static void KERNEL_add(double sum[3], int i, int c, const stored *x, const stored *dy, double mean,
                              double deviation, double w, double b, double slope) {
    SIZES;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                const double z = ((double)load(x, element(&X, i, c, d, h, p)) - mean) / deviation;
                const double y = z * w + b;
                double v = (double)load(dy, element(&DY, i, c, d, h, p));
                sum[2] += y > 0 ? 0 : v * y;
                if (LEAKY && y <= 0)
                    v *= slope;
                sum[0] += v;
                sum[1] += v * z;
            }
}

/* The sums of channel c of the samples from `first` on. */
UNUSED static void KERNEL_channel(double sum[3], int first, int end, int c, const stored *x,
                                  const stored *dy, const real *mean, const real *variance, const real *w,
                                  const real *b, const real *slopes) {
    SIZES;
    const long at = first * MEAN.sample + c / (C / GROUPS);
    sum[0] = sum[1] = sum[2] = 0;
    for (int i = first; i < end; i++)
        KERNEL_add(sum, i, c, x, dy, (double)mean[at], sqrt((double)variance[at] + EPSILON),
                   AFFINE ? (double)w[c] : 1, AFFINE && LEAKY ? (double)b[c] : 0,
                   LEARNT ? (double)slopes[SHARED ? 0 : c] : SLOPE);
}

/* The gradients of the samples from `first` on, with one mean. */
UNUSED static void KERNEL_group(int first, int end, int g, real *dw, real *db, real *sums, const stored *x,
                                const stored *dy, const real *mean, const real *variance, const real *w,
                                const real *b, const real *slopes) {
    SIZES;
    const double count = (double)(end - first) * (C / GROUPS) * D * H * W;
    double all[2] = {0, 0};
    for (int c = g * (C / GROUPS); c < (g + 1) * (C / GROUPS); c++) {
        double sum[3];
        KERNEL_channel(sum, first, end, c, x, dy, mean, variance, w, b, slopes);
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

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, real *sums, real *dslopes,
                          const stored *x, const stored *dy, const real *mean, const real *variance,
                          const real *w, const real *b, const real *slopes) {
    SIZES;
    (void)scratch;
#pragma omp for schedule(static)
    for (int g = 0; g < GROUPS; g++)
        for (int set = 0; set < (BATCH ? 1 : n); set++)
            KERNEL_group(set, BATCH ? n : set + 1, g, dw, db, sums, x, dy, mean, variance, w, b, slopes);
#pragma omp for schedule(static)
    for (int k = 0; k < (!LEARNT || !dslopes ? 0 : SHARED ? 1 : C); k++)
        for (int set = 0; set < (BATCH ? 1 : n); set++) {
            double total = 0;
            for (int c = k; c < (SHARED ? C : k + 1); c++) {
                double sum[3];
                KERNEL_channel(sum, set, BATCH ? n : set + 1, c, x, dy, mean, variance, w, b, slopes);
                total += sum[2];
            }
            dslopes[k] = (ACCUMULATE || set > 0 ? dslopes[k] : 0) + (real)total;
        }
}
/* END */
