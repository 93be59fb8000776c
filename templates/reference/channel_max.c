/* channel_max.c - maximum over the channels of each point; a NaN counts more than any number. */
#include "prologue.c"

#define KERNEL channel_max
#include "../example.h"

/* BEGIN */
/* The channel of the maximum of a point: the first that has it, or the first NaN. */
UNUSED static int KERNEL_channel(const stored *x, int i, int d, int h, int p) {
    SIZES;
    int best = 0;
    for (int c = 1; c < C; c++) {
        const real here = load(x, element(&X, i, c, d, h, p)),
                   before = load(x, element(&X, i, best, d, h, p));
        if (here > before || (here != here && before == before))
            best = c;
    }
    return best;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const int best = KERNEL_channel(x, i, r / H, r % H, p);
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c == 0 ? load(x, element(&X, i, best, r / H, r % H, p)) : 0);
                }
}
/* END */
