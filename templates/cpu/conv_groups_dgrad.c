/* conv_groups_dgrad.c - gradient of a convolution in GROUPS groups of channels by its input; with a
 * BIAS it is a transposed convolution. */
#include "groups.c"

#define KERNEL conv_groups_dgrad
#define AT_RUN_TIME CI, IW, D, H, IH, W
#include "../example.h"

/* BEGIN */
/* The weights of vector v of input channels for output channel j of their groups by a tap. */
INLINE Vector KERNEL_weights(const real *w, int v, int j, int tap) {
    SIZES;
    if (GROUP_IN == 1 && GROUP_OUT == 1)
        return weights_apart(w + (long)v * LANES * (KD * KH * KW) + tap, KD * KH * KW, CI - v * LANES);
    const int in = GROUP_IN, out = GROUP_OUT;
    real part[LANES];
    for (int k = 0; k < LANES; k++) {
        const int c = v * LANES + k;
        part[k] = c < CI ? w[((long)(c / in * out + j) * in + c % in) * (KD * KH * KW) + tap] : 0;
    }
    return load_real(part);
}

/* Adds a tap to the sums of `count` points from i on, which a position of the window meets by it. */
INLINE void KERNEL_tap(real *sums, const stored *dy, const real *w, int v, Point i, int count, int kd,
                       int kh, int kw) {
    SIZES;
    const int od = window_at(i.d, kd * LD, SD, PD, D), oh = window_at(i.h, kh * LH, SH, PH, H);
    if (od < 0 || oh < 0)
        return;
    const Rows at = in_extent(SW, kw * LW - PW - i.w, count, W);
    if (GROUP_IN == 1 && GROUP_OUT == 1) { /* each channel by itself */
        const Vector weights = KERNEL_weights(w, v, 0, (kd * KH + kh) * KW + kw);
        const stored *from = dy + vector_at(&DY, v, (Point){i.n, od, oh, 0});
        real *first = sums + (long)(kw * LW - PW - i.w) * LANES;
        for (int p = at.begin; p < at.end; p++) {
            real *sum = first + (long)p * SW * LANES;
            store_real(sum, load_real(sum) + load_some(from + (long)p * DY.block, lanes(&DY, v)) * weights);
        }
        return;
    }
    for (int j = 0; j < GROUP_OUT; j++) {
        const Vector weights = KERNEL_weights(w, v, j, (kd * KH + kh) * KW + kw);
        for (int p = at.begin; p < at.end; p++) {
            real *sum = sums + (p * SW - PW + kw * LW - i.w) * LANES;
            const Point o = {i.n, od, oh, p};
            store_real(sum,
                       load_real(sum) + of_members(dy, &DY, o, v, j, GROUP_OUT, GROUP_IN, CI) * weights);
        }
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy, const real *w, const real *b) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int first = 0; first < IW; first += ROW_PART) {
                    const Point at = {i, r / IH, r % IH, first};
                    const int count = min_int(ROW_PART, IW - first);
                    const Vector start = BIAS ? bias_vector(b, CI, v) : (Vector){0};
                    _Alignas(64) real sums[ROW_PART * LANES];
                    for (int p = 0; p < count; p++)
                        store_real(sums + p * LANES, start);
                    for (int kd = 0; kd < KD; kd++)
                        for (int kh = 0; kh < KH; kh++)
                            for (int kw = 0; kw < KW; kw++)
                                KERNEL_tap(sums, dy, w, v, at, count, kd, kh, kw);
                    for (int p = 0; p < count; p++)
                        store_some(dx + vector_at(&DX, v, at) + p * DX.block, load_real(sums + p * LANES),
                                   lanes(&DX, v));
                }
}
/* END */
