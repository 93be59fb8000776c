/* argmax.c - the channel that has the maximum; of one channel 1 where it is above 0.5. */
#include "squares.c"

#define KERNEL argmax
#include "../example.h"

/* BEGIN */
/* Into `most`, and `best`, where channel c of a point is larger, or the first NaN. */
INLINE void KERNEL_keep(Vector *most, Bits *best, Vector here, int c) {
    const Bits larger = (here > *most) | ((here != here) & (*most == *most));
    *most = vector_choose(larger, here, *most);
    *best = (c & larger) | (*best & ~larger);
}

/* LANES points at a time; `count` of them are there. */
INLINE Bits KERNEL_points(const stored *x, Point at, int count) {
    SIZES;
    Vector channel[LANES], most = {0};
    Bits best = {0};
    for (int c = 0; c < C; c++) {
        if (c % LANES == 0 && X.block == BLOCK)
            load_square(channel, x + vector_at(&X, c / LANES, at), count);
        else if (c == 0)
            load_narrow(channel, x + offset_of(&X, 0, at), X.block, count);
        if (c == 0)
            most = channel[0];
        else
            KERNEL_keep(&most, &best, channel[c % LANES], c);
    }
    return C == 1 ? (most > (real)0.5) & 1 : best;
}

INLINE void KERNEL_row(uint8_t *y, const stored *x, Point at) {
    SIZES;
    for (; at.w < W; at.w += LANES) {
        const int count = min_int(LANES, W - at.w);
        const Bits best = KERNEL_points(x, at, count);
        uint8_t *to = y + offset_of(&Y, 0, at);
        for (int k = 0; k < LANES; k++)
            if (k < count)
                to[k * Y.block] = (uint8_t)best[k];
    }
}

UNUSED static void KERNEL(int n, Rows rows, uint8_t *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            KERNEL_row(y, x, (Point){i, r / H, r % H, 0});
}
/* END */
