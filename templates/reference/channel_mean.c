/* channel_mean.c - mean over the channels of each point. */
#include "prologue.c"

#define KERNEL channel_mean
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++) {
                double sum = 0;
                for (int c = 0; c < C; c++)
                    sum += (double)load(x, element(&X, i, c, r / H, r % H, p));
                for (int c = 0; c < stored_channels(&Y); c++)
                    store(y, element(&Y, i, c, r / H, r % H, p), c == 0 ? (real)(sum / C) : 0);
            }
}
/* END */
