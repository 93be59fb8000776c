/* parameter_grad.c - gradient of a weight that each sample has: the sum over the samples, in their order.
 */
#include "prologue.c"

#define KERNEL parameter_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *restrict dw, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < vectors(&DY); v++)
        for (int r = 0; r < D * H; r++)
            for (int p = 0; p < W; p++) {
                real *const to = dw + ((long)v * LANES * D * H + r) * W + p;
                Vector sum = {0};
                for (int lane = 0; ACCUMULATE && lane < LANES && v * LANES + lane < C; lane++)
                    sum[lane] = to[(long)lane * D * H * W];
                for (int i = 0; i < n; i++)
                    sum += load_some(dy + vector_at(&DY, v, (Point){i, r / H, r % H, p}), lanes(&DY, v));
                for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                    to[(long)lane * D * H * W] = sum[lane];
            }
}
/* END */
