/* max_unpool_grad.c - gradient of what was brought to the maxima of windows of x: from there it comes back.
 */
#include "prologue.c"

#define KERNEL max_unpool_grad
#define AT_RUN_TIME ID, IH, IW, H, W
#include "../example.h"

/* BEGIN */
#include <math.h>

/* Vector v of window o. */
INLINE Vector KERNEL_point(const stored *x, const stored *dy, int v, Point o) {
    SIZES;
    const int d0 = max_int(0, PD - o.d * SD), d1 = min_int(KD, ID + PD - o.d * SD);
    const int h0 = max_int(0, PH - o.h * SH), h1 = min_int(KH, IH + PH - o.h * SH);
    const int w0 = max_int(0, PW - o.w * SW), w1 = min_int(KW, IW + PW - o.w * SW);
    Vector best = (Vector){0} - INFINITY, gradient = {0};
    int first = 1; /* a window of nothing but -infinity has its maximum at its first point */
    for (int kd = d0; kd < d1; kd++)
        for (int kh = h0; kh < h1; kh++)
            for (int kw = w0; kw < w1; kw++) {
                const Point i = {o.n, o.d * SD - PD + kd, o.h * SH - PH + kh, o.w * SW - PW + kw};
                const Vector here = load_some(x + vector_at(&X, v, i), lanes(&X, v));
                const Vector slope = load_some(dy + vector_at(&DY, v, i), lanes(&DY, v));
                const Bits more = (here > best) | (here != here);
                gradient = first ? slope : vector_choose(more, slope, gradient);
                best = vector_choose(more, here, best);
                first = 0;
            }
    return gradient;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *x, const stored *dy) {
    SIZES;
    const int parts = DX.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DX); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * parts; q++) {
                    const Point o = {i, r / H, r % H, q / parts};
                    const int v = first + q % parts;
                    store_some(dx + vector_at(&DX, v, o), KERNEL_point(x, dy, v, o), lanes(&DX, v));
                }
}
/* END */
