/* argmax.c - the channel that has the maximum; of one channel 1 where it is above 0.5. */
#include "prologue.c"

#define KERNEL argmax
#include "../example.h"

/* BEGIN */
/* Into `most`, and `best`, where channel c of a point is larger, or the first NaN. */
INLINE void KERNEL_keep(real *most, int *best, real here, int c) {
    const int larger = here > *most || (here != here && *most == *most);
    *most = larger ? here : *most;
    *best = larger ? c : *best;
}

/* Of a row of one point and more, block by block. */
INLINE void KERNEL_row(uint8_t *y, const stored *x, Point at) {
    SIZES;
    for (; at.w < W; at.w++) {
        real most = 0;
        int best = 0;
        for (int b = 0; b < X.blocks; b++) {
            real channel[LANES > 16 ? LANES : 16];
            const stored *from = x + offset_of(&X, b, at);
            for (int c = 0; c < X.block; c += LANES)
                store_some_real(channel + c, load_some(from + c, X.block - c), X.block - c);
            for (int c = 0; c < X.block && b * X.block + c < C; c++)
                if (b + c == 0)
                    most = channel[0];
                else
                    KERNEL_keep(&most, &best, channel[c], b * X.block + c);
        }
        y[offset_of(&Y, 0, at)] = (uint8_t)(C == 1 ? most > (real)0.5 : best);
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
