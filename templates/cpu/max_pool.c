/* max_pool.c - maximum over windows; padding counts as -infinity, a NaN as more than any number. */
#include "prologue.c"

#define KERNEL max_pool
#define AT_RUN_TIME ID, IH, IW, H, W
#include "../example.h"

/* BEGIN */
#include <math.h>

/* Vector v of the maximum over the window of output point o. */
INLINE Vector KERNEL_point(Rows rows, const stored *x, int v, Point o) {
    SIZES;
    (void)rows; /* IH may be made of it */
    const int d0 = tap_behind(PD - o.d * SD, LD), d1 = min_int(KD, tap_behind(ID + PD - o.d * SD, LD));
    const int h0 = tap_behind(PH - o.h * SH, LH), h1 = min_int(KH, tap_behind(IH + PH - o.h * SH, LH));
    const int w0 = tap_behind(PW - o.w * SW, LW), w1 = min_int(KW, tap_behind(IW + PW - o.w * SW, LW));
    Vector best = (Vector){0} - INFINITY;
    for (int kd = d0; kd < d1; kd++)
        for (int kh = h0; kh < h1; kh++)
            for (int kw = w0; kw < w1; kw++) {
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
                    store_some(y + vector_at(&Y, v, o), KERNEL_point(rows, x, v, o), lanes(&Y, v));
                }
}
/* END */
