/* silu_grad.c - gradient of x * s, s = 1 / (1 + exp(-x)): s + x * s * (1 - s). */
#include "prologue.c"

#define KERNEL silu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    double v = c < C ? (double)load(x, element(&X, i, c, r / H, r % H, p)) : 0;
                    double gradient = c < C ? (double)load(dy, element(&DY, i, c, r / H, r % H, p)) : 0;
                    double s = 1 / (1 + exp(-v));
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          (real)(gradient * s * (1 + v * (1 - s))));
                }
}
/* END */
