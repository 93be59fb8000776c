/* elu_grad.c - gradient of an ELU, from its output, which is positive where its input is. */
#include "prologue.c"

#define KERNEL elu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const double v = c < C ? (double)load(y, element(&Y, i, c, r / H, r % H, p)) : 0;
                    const double gradient =
                        c < C ? (double)load(dy, element(&DY, i, c, r / H, r % H, p)) : 0;
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          (real)(v > 0 ? gradient : gradient * (v + 1)));
                }
}
/* END */
