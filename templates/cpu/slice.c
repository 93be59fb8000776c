/* slice.c - some of the channels of a tensor. */
#include "prologue.c"

#define KERNEL slice
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * Y.block; q++) {
                    Point at = {i, r / H, r % H, q / Y.block};
                    int c = block * Y.block + q % Y.block, from = C0 + c;
                    y[offset_of(&Y, block, at) + q % Y.block] =
                        c < C ? x[offset_of(&X, from / X.block, at) + from % X.block] : (stored){0};
                }
}
/* END */
