/* conv_groups.c - convolution in GROUPS groups of channels: each output channel sums over the channels
 * of its group. */
#include "groups.c"

#define KERNEL conv_groups
#define AT_RUN_TIME CO, ID, IH, IW, H, W
#include "../example.h"

/* BEGIN */
/* The weights of vector v of output channels for input channel j of their groups by a tap. */
INLINE Vector KERNEL_weights(const real *w, int v, int j, int tap) {
    SIZES;
    if (GROUP_IN == 1 && GROUP_OUT == 1)
        return weights_apart(w + (long)v * LANES * (KD * KH * KW) + tap, KD * KH * KW, CO - v * LANES);
    real part[LANES];
    for (int k = 0; k < LANES; k++) {
        const int co = v * LANES + k;
        part[k] = co < CO ? w[((long)co * (GROUP_IN) + j) * (KD * KH * KW) + tap] : 0;
    }
    return load_real(part);
}

/* Adds a tap to the sums of `count` points from o on. */
INLINE void KERNEL_tap(real *sums, const stored *x, const real *w, int v, Point o, int count, int kd,
                       int kh, int kw) {
    SIZES;
    const int id = o.d * SD - PD + kd * LD, ih = o.h * SH - PH + kh * LH;
    if (id < 0 || id >= ID || ih < 0 || ih >= IH)
        return;
    const Rows at = in_extent(SW, o.w * SW - PW + kw * LW, IW, count);
    if (GROUP_IN == 1 && GROUP_OUT == 1) { /* each channel by itself */
        const Vector weights = KERNEL_weights(w, v, 0, (kd * KH + kh) * KW + kw);
        const stored *from = x + vector_at(&X, v, (Point){o.n, id, ih, o.w * SW - PW + kw * LW});
        for (int p = at.begin; p < at.end; p++)
            store_real(sums + p * LANES,
                       load_real(sums + p * LANES) +
                           load_some(from + (long)p * SW * X.block, lanes(&X, v)) * weights);
        return;
    }
    for (int j = 0; j < GROUP_IN; j++) {
        const Vector weights = KERNEL_weights(w, v, j, (kd * KH + kh) * KW + kw);
        for (int p = at.begin; p < at.end; p++) {
            const Point i = {o.n, id, ih, (o.w + p) * SW - PW + kw * LW};
            store_real(sums + p * LANES, load_real(sums + p * LANES) +
                                             of_members(x, &X, i, v, j, GROUP_IN, GROUP_OUT, CO) * weights);
        }
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x, const real *w, const real *b) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int first = 0; first < W; first += ROW_PART) {
                    const Point o = {i, r / H, r % H, first};
                    const int count = min_int(ROW_PART, W - first);
                    const Vector start = BIAS ? bias_vector(b, CO, v) : (Vector){0};
                    _Alignas(64) real sums[ROW_PART * LANES];
                    for (int p = 0; p < count; p++)
                        store_real(sums + p * LANES, start);
                    for (int kd = 0; kd < KD; kd++)
                        for (int kh = 0; kh < KH; kh++)
                            for (int kw = 0; kw < KW; kw++)
                                KERNEL_tap(sums, x, w, v, o, count, kd, kh, kw);
                    for (int p = 0; p < count; p++)
                        store_some(y + vector_at(&Y, v, o) + p * Y.block, load_real(sums + p * LANES),
                                   lanes(&Y, v));
                }
}
/* END */
