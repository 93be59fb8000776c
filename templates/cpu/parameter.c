/* parameter.c - the numbers of a weight, for each sample. */
#include "prologue.c"

#define KERNEL parameter
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *restrict y, const real *w) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = 0; r < D * H; r++)
                for (int p = 0; p < W; p++) {
                    const Point at = {i, r / H, r % H, p};
                    Vector values = {0};
                    for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                        values[lane] = w[((long)(v * LANES + lane) * D * H + r) * W + p];
                    store_some(y + vector_at(&Y, v, at), values, lanes(&Y, v));
                }
}
/* END */
