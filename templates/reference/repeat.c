/* repeat.c - x, repeated along each axis that has one channel, plane, row or point. */
#include "prologue.c"

#define KERNEL repeat
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const int d = BD == 1 ? 0 : r / H, h = BH == 1 ? 0 : r % H, w = BW == 1 ? 0 : p;
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load(x, element(&X, i, CB == 1 ? 0 : c, d, h, w)) : 0);
                }
}
/* END */
