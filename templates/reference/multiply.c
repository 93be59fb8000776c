/* multiply.c - product of two tensors; b may be a number for each channel, or a map of one channel. */
#include "prologue.c"

#define KERNEL multiply
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_factor(const stored *b, int i, int c, int d, int h, int p) {
    SIZES;
    return load(b, element(&B, i, CB == 1 ? 0 : c, BD == 1 ? 0 : d, BH == 1 ? 0 : h, BW == 1 ? 0 : p));
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load(a, element(&A, i, c, r / H, r % H, p)) *
                                      KERNEL_factor(b, i, c, r / H, r % H, p)
                                : 0);
}
/* END */
