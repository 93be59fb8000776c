/* norm_wgrad.c - gradients of a normalisation by its weights, and what its gradient by the input needs of
 * them: for each mean the means of w dy and of w dy z, where z is what was normalised.  LEAKY: dy is by
 * what a leaky ReLU behind made; LEARNT: its slopes below zero are weights, SHARED: one for all channels.
 */
#include "norms.c"

#define KERNEL norm_wgrad
#define AT_RUN_TIME RING, D, H, W, C, GROUPS, BANDS
#include "../example.h"

/* BEGIN */
enum { KERNEL_MOST_NUMBERS = 3 };

/* The sums of dy, of dy (x - mean) and, if LEARNT, of what a slope is multiplied with. */
INLINE int KERNEL_numbers(void) {
    SIZES;
    return LEARNT ? 3 : 2;
}

/* Over a row of points. */
INLINE void KERNEL_row(double *sum, Normal normal, Vector below, const stored *from,
                       const stored *gradients, int v) {
    SIZES;
    Vector total = {0}, products = {0}, negative = {0};
    for (int p = 0; p < W; p++) {
        const Vector at = load_some(from + p * X.block, lanes(&X, v)), y = normalised(normal, at);
        Vector gradient = load_some(gradients + p * DY.block, lanes(&DY, v));
        if (LEARNT)
            negative += vector_choose(y > 0, (Vector){0}, gradient * y);
        if (LEAKY)
            gradient = through_leaky(y, gradient, below, !LEARNT && SLOPE == 0);
        total += gradient;
        products += gradient * (at - normal.centre);
    }
    add_lanes(sum, total);
    add_lanes(sum + LANES, products);
    if (LEARNT)
        add_lanes(sum + 2 * LANES, negative);
}

INLINE void KERNEL_band(double *to, const stored *x, const stored *dy, const real *mean,
                        const real *variance, const real *w, const real *b, const real *slopes, int i,
                        int v, int band) {
    SIZES;
    const long set = BATCH ? 0 : i * MEAN.sample;
    const Normal normal =
        normal_of(mean + set, variance + set, AFFINE ? w : NULL, AFFINE ? b : NULL, v, C, GROUPS, EPSILON);
    const Vector below = slopes_of(LEARNT ? slopes : NULL, SHARED, SLOPE, C, v);
    const int first = band_begin(D * H, BANDS, band), end = band_begin(D * H, BANDS, band + 1);
    double sum[KERNEL_MOST_NUMBERS * LANES] = {0};
    Point row = {i, first / H, first % H, 0};
    for (int r = first; r < end; r++, row = row_behind(row, H))
        KERNEL_row(sum, normal, below, x + vector_at(&X, v, row), dy + vector_at(&DY, v, row), v);
    memcpy(to, sum, (size_t)KERNEL_numbers() * LANES * sizeof *sum);
}

/* Number k of channel c of the samples from `first` on. */
INLINE double KERNEL_sum(double *scratch, int first, int end, int c, int k) {
    SIZES;
    double sum = 0;
    for (int i = first; i < end; i++)
        for (int band = 0; band < BANDS; band++)
            sum += of_band(scratch, &X, KERNEL_numbers(), BANDS, i, c / LANES, band)[k * LANES + c % LANES];
    return sum;
}

/* The gradients of the samples from `first` on, with one mean. */
INLINE void KERNEL_group(int first, int end, int g, real *dw, real *db, double *scratch, real *sums,
                         real *dslopes, const real *variance, const real *w) {
    SIZES;
    const double count = (double)(end - first) * (C / GROUPS) * D * H * W;
    const double factor = 1 / sqrt((double)variance[first * MEAN.sample + g] + EPSILON);
    const int more = ACCUMULATE || first > 0;
    double all[2] = {0, 0};
    for (int c = g * (C / GROUPS); c < (g + 1) * (C / GROUPS); c++) {
        const double sum = KERNEL_sum(scratch, first, end, c, 0),
                     product = KERNEL_sum(scratch, first, end, c, 1) * factor;
        if (AFFINE) {
            db[c] = (more ? db[c] : 0) + (real)sum;
            dw[c] = (more ? dw[c] : 0) + (real)product;
        }
        if (LEARNT && !SHARED && dslopes)
            dslopes[c] = (more ? dslopes[c] : 0) + (real)KERNEL_sum(scratch, first, end, c, 2);
        all[0] += sum * (AFFINE ? (double)w[c] : 1);
        all[1] += product * (AFFINE ? (double)w[c] : 1);
    }
    sums[first * SUMS.sample + g] = (real)(all[0] / count);
    sums[first * SUMS.sample + GROUPS + g] = (real)(all[1] / count);
}

/* The gradient of the one slope, of the samples from `first` on. */
INLINE void KERNEL_shared(int first, int end, real *dslopes, double *scratch) {
    SIZES;
    double total = 0;
    for (int c = 0; c < C; c++)
        total += KERNEL_sum(scratch, first, end, c, 2);
    dslopes[0] = (ACCUMULATE || first > 0 ? dslopes[0] : 0) + (real)total;
}

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, real *sums, real *dslopes,
                          const stored *x, const stored *dy, const real *mean, const real *variance,
                          const real *w, const real *b, const real *slopes) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&X); v++)
            for (int band = 0; band < BANDS; band++)
                KERNEL_band(of_band(scratch, &X, KERNEL_numbers(), BANDS, i, v, band), x, dy, mean,
                            variance, w, b, slopes, i, v, band);
#pragma omp for schedule(static)
    for (int g = 0; g < GROUPS; g++)
        for (int set = 0; set < (BATCH ? 1 : n); set++)
            KERNEL_group(set, BATCH ? n : set + 1, g, dw, db, scratch, sums, dslopes, variance, w);
#pragma omp for schedule(static)
    for (int one = 0; one < (LEARNT && SHARED && dslopes); one++)
        for (int set = 0; set < (BATCH ? 1 : n); set++)
            KERNEL_shared(set, BATCH ? n : set + 1, dslopes, scratch);
}
/* END */
