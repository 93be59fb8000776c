/* parameter.c - the numbers of a weight, for each sample.  BY_POINT: the numbers of a point lie side by
 * side. */
#include "prologue.c"

#define KERNEL parameter
#include "../example.h"

/* BEGIN */
UNUSED static long KERNEL_place(int c, int r, int p) {
    SIZES;
    const long point = (long)r * W + p;
    return BY_POINT ? point * C + c : (long)c * D * H * W + point;
}

UNUSED static void KERNEL(int n, stored *y, const real *w) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = 0; r < D * H; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p), c < C ? w[KERNEL_place(c, r, p)] : 0);
}
/* END */
