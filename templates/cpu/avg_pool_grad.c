/* avg_pool_grad.c - gradient of a mean over windows: a point collects from the windows that hold it. */
#include "prologue.c"

#define KERNEL avg_pool_grad
#include "../example.h"

/* BEGIN */
/* How many points of window o along an axis are no padding. */
INLINE int KERNEL_inside(int o, int stride, int padding, int kernel, int extent) {
    return min_int(kernel, extent + padding - o * stride) - max_int(0, padding - o * stride);
}

/* Vector v of the gradient of point p: over the windows that hold it, in the order of the windows. */
INLINE Vector KERNEL_point(const stored *dy, int v, Point p) {
    SIZES;
    Vector sum = {0};
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                Point o = {p.n, window_at(p.d, kd, SD, PD, D), window_at(p.h, kh, SH, PH, H),
                           window_at(p.w, kw, SW, PW, W)};
                if (o.d < 0 || o.h < 0 || o.w < 0)
                    continue;
                const int points = INSIDE ? KERNEL_inside(o.d, SD, PD, KD, ID) *
                                                KERNEL_inside(o.h, SH, PH, KH, IH) *
                                                KERNEL_inside(o.w, SW, PW, KW, IW)
                                          : 1;
                const Vector gradient = load_some(dy + vector_at(&DY, v, o), lanes(&DY, v));
                sum += INSIDE ? gradient / (real)points : gradient;
            }
    return INSIDE ? sum : sum / (real)(KD * KH * KW);
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *dy) {
    SIZES;
    const int parts = DX.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DX); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < IW * parts; q++) {
                    Point p = {i, r / IH, r % IH, q / parts};
                    int v = first + q % parts;
                    store_some(dx + vector_at(&DX, v, p), KERNEL_point(dy, v, p), lanes(&DX, v));
                }
}
/* END */
