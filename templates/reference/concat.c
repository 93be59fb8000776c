/* concat.c - one tensor out of segments. */
#include "prologue.c"

#define KERNEL concat
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *const *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++) {
            int s = 0, first = 0;
            while (s < SEGMENTS - 1 && c >= first + X[s].channels)
                first += X[s++].channels;
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load(x[s], element(&X[s], i, c - first, r / H, r % H, p)) : 0);
        }
}
/* END */
