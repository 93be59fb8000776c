/* slice.c - some of the channels of a tensor. */
#include "prologue.c"

#define KERNEL slice
#define AT_RUN_TIME RING, C0, C, H, W
#include "../example.h"

/* BEGIN */
/* Block `block` of a row, channel by channel. */
INLINE void KERNEL_channels(stored *y, const stored *x, int block, Point at) {
    SIZES;
    for (; at.w < W; at.w++)
        for (int k = 0; k < Y.block; k++) {
            const int c = block * Y.block + k, from = C0 + c;
            y[offset_of(&Y, block, at) + k] =
                c < C ? x[offset_of(&X, from / X.block, at) + from % X.block] : (stored){0};
        }
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
    const int whole = X.block == Y.block && C0 % Y.block == 0; /* the blocks of y are blocks of x */
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point at = {i, r / H, r % H, 0};
                if (whole && (block + 1) * Y.block <= C)
                    memcpy(y + offset_of(&Y, block, at), x + offset_of(&X, C0 / Y.block + block, at),
                           (size_t)W * Y.block * sizeof *y);
                else
                    KERNEL_channels(y, x, block, at);
            }
}
/* END */
