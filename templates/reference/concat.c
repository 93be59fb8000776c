/* concat.c - one tensor out of segments. */
#include "prologue.c"

#define KERNEL concat
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *y, const stored *const *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++) {
            int s = 0, first = 0;
            while (s < SEGMENTS - 1 && c >= first + X[s].channels)
                first += X[s++].channels;
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int p = 0; p < W; p++)
                        store(y, element(&Y, i, c, d, h, p),
                              c < C ? load(x[s], element(&X[s], i, c - first, d, h, p)) : 0);
        }
}
/* END */
