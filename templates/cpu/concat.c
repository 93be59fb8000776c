/* concat.c - one tensor out of segments. */
#include "prologue.c"

#define KERNEL concat
#define AT_RUN_TIME RING, SEGMENTS, H, W
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Block `block` of segment s, as channels of y from `to` on; zeros from where it has no more up to channel
 * `end`. */
INLINE void KERNEL_row(stored *y, const stored *x, int s, int block, Point at, int to, int end) {
    SIZES;
    const int count = min_int(X[s].block, X[s].channels - block * X[s].block);
    for (; at.w < W; at.w++) {
        const stored *from = x + offset_of(&X[s], block, at);
        for (int c = 0; to + c < end; c++)
            y[offset_of(&Y, (to + c) / Y.block, at) + (to + c) % Y.block] =
                c < count ? from[c] : (stored){0};
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *const *x) {
    SIZES;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
#pragma omp for collapse(3) schedule(static) nowait
        for (int i = 0; i < n; i++)
            for (int block = 0; block < X[s].blocks; block++)
                for (int r = rows.begin; r < rows.end; r++) {
                    const Point at = {i, r / H, r % H, 0};
                    const int to = first + block * X[s].block, is_last = s + 1 == SEGMENTS;
                    /* the last segment also writes the channels that pad the last block */
                    const int end = block + 1 < X[s].blocks ? to + X[s].block
                                    : is_last               ? Y.blocks * Y.block
                                                            : first + X[s].channels;
                    if (X[s].block == Y.block && to % Y.block == 0 && end - to == Y.block)
                        memcpy(y + offset_of(&Y, to / Y.block, at), x[s] + offset_of(&X[s], block, at),
                               (size_t)W * Y.block * sizeof *y);
                    else
                        KERNEL_row(y, x[s], s, block, at, to, end);
                }
#pragma omp barrier
}
/* END */
