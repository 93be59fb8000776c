/* border.c - x with points around it: a number, its own points once more, or in the other direction. */
#include "borders.c"

#define KERNEL border
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const int d = border_source(BORDER_D, r / H - BEFORE_D, ID),
                              h = border_source(BORDER_H, r % H - BEFORE_H, IH),
                              w = border_source(BORDER_W, p - BEFORE_W, IW);
                    const int beyond = d < 0 || h < 0 || w < 0;
                    const real v = beyond ? (real)BEYOND : load(x, element(&X, i, c, d, h, w));
                    store(y, element(&Y, i, c, r / H, r % H, p), c < C ? v : 0);
                }
}
/* END */
