/* prelu_grad.c - gradient of a ReLU whose slopes below zero are weights. */
#include "prologue.c"

#define KERNEL prelu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy, const real *w) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const real gradient = c < C ? load(dy, element(&DY, i, c, r / H, r % H, p)) : 0;
                    const int positive = c < C && load(x, element(&X, i, c, r / H, r % H, p)) > 0;
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          positive || c >= C ? gradient : gradient * w[SHARED ? 0 : c]);
                }
}
/* END */
