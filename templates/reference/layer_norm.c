/* layer_norm.c - normalisation by mean and variance of the channels of a point. */
#include "prologue.c"

#define KERNEL layer_norm
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL_point(stored *y, const stored *x, int i, int d, int h, int p) {
    SIZES;
    double mean = 0, variance = 0;
    for (int c = 0; c < C; c++)
        mean += (double)load(x, element(&X, i, c, d, h, p)) / C;
    for (int c = 0; c < C; c++) {
        const double v = (double)load(x, element(&X, i, c, d, h, p)) - mean;
        variance += v * v / C;
    }
    for (int c = 0; c < stored_channels(&Y); c++)
        store(y, element(&Y, i, c, d, h, p),
              c < C
                  ? (real)(((double)load(x, element(&X, i, c, d, h, p)) - mean) / sqrt(variance + EPSILON))
                  : 0);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++)
                KERNEL_point(y, x, i, r / H, r % H, p);
}
/* END */
