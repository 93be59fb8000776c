/* pixel_unshuffle.c - FOLD x FOLD points of a channel become as many channels of one point. */
#include "prologue.c"

#define KERNEL pixel_unshuffle
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int h = rows.begin; h < rows.end; h++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, 0, h, p),
                          c < C ? load(x, element(&X, i, c / (FOLD * FOLD), 0, h * FOLD + c / FOLD % FOLD,
                                                  p * FOLD + c % FOLD))
                                : 0);
}
/* END */
