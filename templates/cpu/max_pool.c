/* max_pool.c - maximum over windows; padding counts as -infinity, a NaN as more than any number. */
#include "prologue.c"

#define KERNEL max_pool
#define AT_RUN_TIME ID, IH, IW, H, W
#include "../example.h"

/* BEGIN */
#include <math.h>

/* The taps of window o along an axis that meet points of the input. */
INLINE Rows KERNEL_taps(int o, int taps, int stride, int padding, int dilation, int extent) {
    SIZES;
    return EXACT ? (Rows){0, taps}
                 : (Rows){tap_behind(padding - o * stride, dilation),
                          min_int(taps, tap_behind(extent + padding - o * stride, dilation))};
}

/* Vector v of the maximum over the window of output point o. */
INLINE Vector KERNEL_point(const stored *x, int v, Point o) {
    SIZES;
    const Rows d = KERNEL_taps(o.d, KD, SD, PD, LD, ID), h = KERNEL_taps(o.h, KH, SH, PH, LH, IH),
               w = KERNEL_taps(o.w, KW, SW, PW, LW, IW);
    Vector best = (Vector){0} - INFINITY;
    for (int kd = d.begin; kd < d.end; kd++)
        for (int kh = h.begin; kh < h.end; kh++)
            for (int kw = w.begin; kw < w.end; kw++) {
                Point i = {o.n, o.d * SD - PD + kd * LD, o.h * SH - PH + kh * LH, o.w * SW - PW + kw * LW};
                best = vector_maximum(best, load_some(x + vector_at(&X, v, i), lanes(&X, v)));
            }
    return best;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * parts; q++) {
                    Point o = {i, r / H, r % H, q / parts};
                    int v = first + q % parts;
                    store_some(y + vector_at(&Y, v, o), KERNEL_point(x, v, o), lanes(&Y, v));
                }
}
/* END */
