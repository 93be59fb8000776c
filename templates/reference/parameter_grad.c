/* parameter_grad.c - gradient of a weight that each sample has: the sum over the samples, in their order.
 * BY_POINT: the numbers of a point lie side by side. */
#include "prologue.c"

#define KERNEL parameter_grad
#include "../example.h"

/* BEGIN */
UNUSED static long KERNEL_place(int c, int r, int p) {
    SIZES;
    const long point = (long)r * W + p;
    return BY_POINT ? point * C + c : (long)c * D * H * W + point;
}

UNUSED static void KERNEL(int n, real *dw, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int c = 0; c < C; c++)
        for (int r = 0; r < D * H; r++)
            for (int p = 0; p < W; p++) {
                real *const to = dw + KERNEL_place(c, r, p);
                real sum = ACCUMULATE ? *to : 0;
                for (int i = 0; i < n; i++)
                    sum += load(dy, element(&DY, i, c, r / H, r % H, p));
                *to = sum;
            }
}
/* END */
