/* parameter_grad.c - gradient of a weight that each sample has: the sum over the samples, in their order.
 */
#include "prologue.c"

#define KERNEL parameter_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *dw, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int c = 0; c < C; c++)
        for (int r = 0; r < D * H; r++)
            for (int p = 0; p < W; p++) {
                real *const to = dw + ((long)c * D * H + r) * W + p;
                real sum = ACCUMULATE ? *to : 0;
                for (int i = 0; i < n; i++)
                    sum += load(dy, element(&DY, i, c, r / H, r % H, p));
                *to = sum;
            }
}
/* END */
