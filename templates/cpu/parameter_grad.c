/* parameter_grad.c - gradient of a weight that each sample has: the sum over the samples, in their order.
 * BY_POINT: the numbers of a point lie side by side. */
#include "prologue.c"

#define KERNEL parameter_grad
#include "../example.h"

/* BEGIN */
INLINE long KERNEL_place(int c, int r, int p) {
    SIZES;
    const long point = (long)r * W + p;
    return BY_POINT ? point * C + c : (long)c * D * H * W + point;
}

UNUSED static void KERNEL(int n, real *restrict dw, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < vectors(&DY); v++)
        for (int r = 0; r < D * H; r++)
            for (int p = 0; p < W; p++) {
                Vector sum = {0};
                for (int lane = 0; ACCUMULATE && lane < LANES && v * LANES + lane < C; lane++)
                    sum[lane] = dw[KERNEL_place(v * LANES + lane, r, p)];
                for (int i = 0; i < n; i++)
                    sum += load_some(dy + vector_at(&DY, v, (Point){i, r / H, r % H, p}), lanes(&DY, v));
                for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                    dw[KERNEL_place(v * LANES + lane, r, p)] = sum[lane];
            }
}
/* END */
