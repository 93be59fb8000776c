/* norm_wgrad.c - gradients of a normalisation by its weights, and what its gradient by the input needs of
 * them: for each mean the means of w dy and of w dy z, where z is what was normalised. */
#include "norms.c"

#define KERNEL norm_wgrad
#include "../example.h"

/* BEGIN */
/* The sums of dy, and of dy (x - mean), over a band. */
INLINE void KERNEL_band(double *to, const stored *x, const stored *dy, const real *mean,
                        const real *variance, const real *w, const real *b, int i, int v, int band) {
    SIZES;
    const long set = BATCH ? 0 : i * MEAN.sample;
    const Normal normal =
        normal_of(mean + set, variance + set, AFFINE ? w : NULL, AFFINE ? b : NULL, v, C, GROUPS, EPSILON);
    const int first = band_begin(D * H, BANDS, band), end = band_begin(D * H, BANDS, band + 1);
    double sum[2 * LANES] = {0};
    for (int r = first; r < end; r++) {
        const Point row = {i, r / H, r % H, 0};
        const stored *from = x + vector_at(&X, v, row), *gradients = dy + vector_at(&DY, v, row);
        Vector slopes = {0}, products = {0};
        for (int p = 0; p < W; p++) {
            const Vector at = load_some(from + p * X.block, lanes(&X, v));
            Vector slope = load_some(gradients + p * DY.block, lanes(&DY, v));
            if (LEAKY)
                slope = through_leaky(normal, at, slope, (real)SLOPE);
            slopes += slope;
            products += slope * (at - normal.centre);
        }
        add_lanes(sum, slopes);
        add_lanes(sum + LANES, products);
    }
    memcpy(to, sum, sizeof sum);
}

/* Channel c of the samples from `first` on. */
INLINE void KERNEL_channel(double sum[2], double *scratch, int first, int end, int c, double factor) {
    SIZES;
    sum[0] = sum[1] = 0;
    for (int i = first; i < end; i++)
        for (int band = 0; band < BANDS; band++) {
            const double *from = of_band(scratch, &X, BANDS, i, c / LANES, band) + c % LANES;
            sum[0] += from[0];
            sum[1] += from[LANES];
        }
    sum[1] *= factor;
}

/* Those of the samples from `first` on, with one mean. */
INLINE void KERNEL_group(int first, int end, int g, real *dw, real *db, double *scratch, real *sums,
                         const real *variance, const real *w) {
    SIZES;
    const double count = (double)(end - first) * (C / GROUPS) * D * H * W;
    const double factor = 1 / sqrt((double)variance[first * MEAN.sample + g] + EPSILON);
    double all[2] = {0, 0};
    for (int c = g * (C / GROUPS); c < (g + 1) * (C / GROUPS); c++) {
        double sum[2];
        KERNEL_channel(sum, scratch, first, end, c, factor);
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
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&X); v++)
            for (int band = 0; band < BANDS; band++)
                KERNEL_band(of_band(scratch, &X, BANDS, i, v, band), x, dy, mean, variance, w, b, i, v,
                            band);
#pragma omp for schedule(static)
    for (int g = 0; g < GROUPS; g++)
        for (int set = 0; set < (BATCH ? 1 : n); set++)
            KERNEL_group(set, BATCH ? n : set + 1, g, dw, db, scratch, sums, variance, w);
}
/* END */
