/* gelu_grad.c - gradient of x times the share of a normal distribution below x. */
#include "prologue.c"

#define KERNEL gelu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const double v = c < C ? (double)load(x, element(&X, i, c, r / H, r % H, p)) : 0;
                    const double gradient =
                        c < C ? (double)load(dy, element(&DY, i, c, r / H, r % H, p)) : 0;
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          (real)(gradient * (0.5 * erfc(-v * 0.70710678118654752) +
                                             v * 0.39894228040143268 * exp(-0.5 * v * v))));
                }
}
/* END */
