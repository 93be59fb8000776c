/* norm_statistics.c - mean and variance of each of GROUPS groups of channels, of each sample, or, if BATCH,
 * over all.
 *
 * A row has its own mean, about which its squares are summed while it lies in the cache; means and squares
 * are then joined, row by row, band by band, sample by sample. */
#include "norms.c"

#define KERNEL norm_statistics
#define AT_RUN_TIME RING, D, H, W, C, GROUPS, BANDS
#include "../example.h"

/* BEGIN */
/* `count` numbers: their mean, and the sum of the squares of their differences from it. */
typedef struct {
    double count, mean, squares;
} KERNEL_Moments;

INLINE KERNEL_Moments KERNEL_join(KERNEL_Moments a, KERNEL_Moments b) {
    const double count = a.count + b.count, apart = b.mean - a.mean;
    return (KERNEL_Moments){count, a.mean + apart * (b.count / count),
                            a.squares + b.squares + apart * apart * (a.count * b.count / count)};
}

/* The mean of a row, and its squares about that. */
INLINE void KERNEL_row(const stored *x, int v, real *mean, real *squares) {
    SIZES;
    const int used = lanes(&X, v);
    Vector even = {0}, odd = {0};
    for (int p = 0; p + 1 < W; p += 2) {
        even += load_some(x + p * X.block, used);
        odd += load_some(x + (p + 1) * X.block, used);
    }
    if (W % 2 == 1)
        even += load_some(x + (W - 1) * X.block, used);
    const Vector centre = (even + odd) / (real)W;
    even = odd = (Vector){0};
    for (int p = 0; p + 1 < W; p += 2) {
        const Vector a = load_some(x + p * X.block, used) - centre;
        const Vector b = load_some(x + (p + 1) * X.block, used) - centre;
        even += a * a;
        odd += b * b;
    }
    if (W % 2 == 1) {
        const Vector a = load_some(x + (W - 1) * X.block, used) - centre;
        even += a * a;
    }
    store_real(mean, centre);
    store_real(squares, even + odd);
}

INLINE void KERNEL_band(double *to, const stored *x, int i, int v, int band) {
    SIZES;
    const int first = band_begin(D * H, BANDS, band), end = band_begin(D * H, BANDS, band + 1);
    double mean[LANES] = {0}, squares[LANES] = {0};
    Point row = {i, first / H, first % H, 0};
    for (int r = first; r < end; r++, row = row_behind(row, H)) {
        real row_mean[LANES], row_squares[LANES];
        KERNEL_row(x + vector_at(&X, v, row), v, row_mean, row_squares);
        const double before = (double)(r - first), share = 1 / (before + 1), weight = W * before * share;
        for (int k = 0; k < LANES; k++) {
            const double apart = (double)row_mean[k] - mean[k];
            mean[k] += apart * share;
            squares[k] += (double)row_squares[k] + apart * apart * weight;
        }
    }
    memcpy(to, mean, sizeof mean);
    memcpy(to + LANES, squares, sizeof squares);
}

/* The moments of the bands of a channel of some samples. */
INLINE KERNEL_Moments KERNEL_channel(KERNEL_Moments all, double *scratch, int first, int end, int c) {
    SIZES;
    for (int i = first; i < end; i++)
        for (int band = 0; band < BANDS; band++) {
            const double *from = of_band(scratch, &X, 2, BANDS, i, c / LANES, band) + c % LANES;
            const int rows = band_begin(D * H, BANDS, band + 1) - band_begin(D * H, BANDS, band);
            all = KERNEL_join(all, (KERNEL_Moments){(double)rows * W, from[0], from[LANES]});
        }
    return all;
}

UNUSED static void KERNEL(int n, real *mean, real *variance, double *scratch, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&X); v++)
            for (int band = 0; band < BANDS; band++)
                KERNEL_band(of_band(scratch, &X, 2, BANDS, i, v, band), x, i, v, band);
#pragma omp for schedule(static)
    for (int s = 0; s < (BATCH ? 1 : n) * GROUPS; s++) {
        const int set = s / GROUPS, g = s % GROUPS, of = C / GROUPS;
        KERNEL_Moments all = {0, 0, 0};
        for (int c = g * of; c < (g + 1) * of; c++)
            all = KERNEL_channel(all, scratch, set, BATCH ? n : set + 1, c);
        mean[set * MEAN.sample + g] = (real)all.mean;
        variance[set * MEAN.sample + g] = (real)(all.squares / all.count);
    }
}
/* END */
