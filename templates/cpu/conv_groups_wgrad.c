/* conv_groups_wgrad.c - gradients of a convolution in GROUPS groups of channels by its weights and its
 * bias: sums over a row, then over the rows of a sample in double, then over samples. */
#include "groups.c"

#define KERNEL conv_groups_wgrad
#define AT_RUN_TIME CO, ID, IH, IW, D, H, W
#include "../example.h"

/* BEGIN */
/* The sum over a row of dy, times x by a tap, or, if x is NULL, by itself. */
INLINE Vector KERNEL_row(const stored *x, const stored *dy, int v, int j, Point o, int kd, int kh, int kw) {
    SIZES;
    const int id = o.d * SD - PD + kd * LD, ih = o.h * SH - PH + kh * LH;
    const Rows at = x == NULL ? (Rows){0, W} : in_extent(SW, kw * LW - PW, IW, W);
    Vector sum = {0};
    if (x != NULL && (id < 0 || id >= ID || ih < 0 || ih >= IH))
        return sum;
    for (o.w = at.begin; o.w < at.end; o.w++) {
        const Vector slope = load_some(dy + vector_at(&DY, v, o), lanes(&DY, v));
        const Point i = {o.n, id, ih, o.w * SW - PW + kw * LW};
        sum += x == NULL ? slope : slope * of_members(x, &X, i, v, j, GROUP_IN, GROUP_OUT, CO);
    }
    return sum;
}

/* Sums over all rows of all samples; neighbouring channels lie `apart`. */
INLINE void KERNEL_sum(int n, real *to, long apart, const stored *x, const stored *dy, int v, int j, int kd,
                       int kh, int kw) {
    SIZES;
    for (int i = 0; i < n; i++) {
        double sum[LANES] = {0};
        for (int r = 0; r < D * H; r++) {
            real part[LANES];
            store_real(part, KERNEL_row(x, dy, v, j, (Point){i, r / H, r % H, 0}, kd, kh, kw));
            for (int k = 0; k < LANES; k++)
                sum[k] += (double)part[k];
        }
        for (int k = 0; k < LANES && v * LANES + k < CO; k++) {
            real *const total = to + (v * LANES + k) * apart;
            *total = (i > 0 || ACCUMULATE ? *total : 0) + (real)sum[k];
        }
    }
}

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, const stored *x, const stored *dy) {
    SIZES;
    (void)scratch;
    const int taps = KD * KH * KW, in = GROUP_IN;
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < vectors(&DY); v++)
        for (int k = 0; k < in * taps; k++)
            KERNEL_sum(n, dw + k, (long)in * taps, x, dy, v, k / taps, k % taps / (KH * KW),
                       k % (KH * KW) / KW, k % KW);
    if (BIAS) {
#pragma omp for schedule(static)
        for (int v = 0; v < vectors(&DY); v++)
            KERNEL_sum(n, db, 1, NULL, dy, v, 0, 0, 0, 0);
    }
}
/* END */
