/* parameter.c - the numbers of a weight, for each sample.  BY_POINT: the numbers of a point lie side by
 * side. */
#include "prologue.c"

#define KERNEL parameter
#include "../example.h"

/* BEGIN */
INLINE long KERNEL_place(int c, int r, int p) {
    SIZES;
    const long point = (long)r * W + p;
    return BY_POINT ? point * C + c : (long)c * D * H * W + point;
}

UNUSED static void KERNEL(int n, stored *restrict y, const real *w) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = 0; r < D * H; r++)
                for (int p = 0; p < W; p++) {
                    const Point at = {i, r / H, r % H, p};
                    Vector values = {0};
                    for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                        values[lane] = w[KERNEL_place(v * LANES + lane, r, p)];
                    store_some(y + vector_at(&Y, v, at), values, lanes(&Y, v));
                }
}
/* END */
