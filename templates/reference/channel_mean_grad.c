/* channel_mean_grad.c - gradient of a mean over the channels: each has the same share. */
#include "prologue.c"

#define KERNEL channel_mean_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          c < C ? load(dy, element(&DY, i, 0, r / H, r % H, p)) / (real)C : 0);
}
/* END */
