/* softmax_grad.c - gradient of a softmax over the channels, from its output. */
#include "prologue.c"

#define KERNEL softmax_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++) {
                double sum = 0;
                for (int c = 0; c < C; c++)
                    sum += (double)load(y, element(&Y, i, c, r / H, r % H, p)) *
                           (double)load(dy, element(&DY, i, c, r / H, r % H, p));
                for (int c = 0; c < stored_channels(&DX); c++)
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          c < C ? (real)((double)load(y, element(&Y, i, c, r / H, r % H, p)) *
                                         ((double)load(dy, element(&DY, i, c, r / H, r % H, p)) - sum))
                                : 0);
            }
}
/* END */
