/* function_grad.c - gradient of a function of each number. Channels that pad a block stay zero. */
#include "functions.c"

#define KERNEL function_grad
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
                    const double slope = function_slope(WHICH, v, FIRST_NUMBER, SECOND_NUMBER);
                    store(dx, element(&DX, i, c, r / H, r % H, p), c < C ? (real)(gradient * slope) : 0);
                }
}
/* END */
