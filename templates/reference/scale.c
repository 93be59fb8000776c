/* scale.c - a factor, and a bias, for each channel, or, if SHARED, one for all; BELOW_ZERO: only where x is
 * not positive. */
#include "prologue.c"

#define KERNEL scale
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(real v, int c, const real *w, const real *b) {
    SIZES;
    if (BELOW_ZERO && v > 0)
        return v;
    return v * w[SHARED ? 0 : c] + (BIAS ? b[c] : 0);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x, const real *w, const real *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? KERNEL_point(load(x, element(&X, i, c, r / H, r % H, p)), c, w, b) : 0);
}
/* END */
