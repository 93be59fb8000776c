/* layer_norm_grad.c - gradient of a normalisation by mean and variance of the channels of a point. */
#include "prologue.c"

#define KERNEL layer_norm_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL_point(stored *dx, const stored *x, const stored *dy, int i, int d, int h, int p) {
    SIZES;
    double mean = 0, variance = 0, sum[2] = {0, 0};
    for (int c = 0; c < C; c++)
        mean += (double)load(x, element(&X, i, c, d, h, p)) / C;
    for (int c = 0; c < C; c++) {
        const double v = (double)load(x, element(&X, i, c, d, h, p)) - mean,
                     slope = (double)load(dy, element(&DY, i, c, d, h, p));
        variance += v * v / C;
        sum[0] += slope / C;
        sum[1] += slope * v / C;
    }
    const double deviation = sqrt(variance + EPSILON);
    for (int c = 0; c < stored_channels(&DX); c++) {
        const double v = c < C ? (double)load(x, element(&X, i, c, d, h, p)) - mean : 0,
                     slope = c < C ? (double)load(dy, element(&DY, i, c, d, h, p)) : 0;
        store(dx, element(&DX, i, c, d, h, p),
              c < C ? (real)((slope - sum[0] - v * sum[1] / (variance + EPSILON)) / deviation) : 0);
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++)
                KERNEL_point(dx, x, dy, i, r / H, r % H, p);
}
/* END */
