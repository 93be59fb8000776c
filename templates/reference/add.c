/* add.c - sum of two tensors. */
#include "prologue.c"

#define KERNEL add
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *y, const real *a, const real *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++) {
                        real sum =
                            c < C ? a[element(&A, i, c, d, h, p)] + b[element(&B, i, c, d, h, p)] : 0;
                        y[element(&Y, i, c, d, h, p)] = sum;
                    }
}
/* END */
