/* avg_pool.c - mean over windows; padding counts as zeros, which the mean includes (PyTorch's
 * count_include_pad), or, INSIDE, it does not count. */
#include "prologue.c"

#define KERNEL avg_pool
#include "../example.h"

/* BEGIN */
/* Vector v of the mean over the window of output point o. */
INLINE Vector KERNEL_point(Rows rows, const stored *x, int v, Point o) {
    SIZES;
    (void)rows; /* IH may be made of it */
    const int d0 = max_int(0, PD - o.d * SD), d1 = min_int(KD, ID + PD - o.d * SD);
    const int h0 = max_int(0, PH - o.h * SH), h1 = min_int(KH, IH + PH - o.h * SH);
    const int w0 = max_int(0, PW - o.w * SW), w1 = min_int(KW, IW + PW - o.w * SW);
    Vector sum = {0};
    for (int kd = d0; kd < d1; kd++)
        for (int kh = h0; kh < h1; kh++)
            for (int kw = w0; kw < w1; kw++) {
                Point i = {o.n, o.d * SD - PD + kd, o.h * SH - PH + kh, o.w * SW - PW + kw};
                sum += load_some(x + vector_at(&X, v, i), lanes(&X, v));
            }
    return sum / (real)(INSIDE ? (d1 - d0) * (h1 - h0) * (w1 - w0) : KD * KH * KW);
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
