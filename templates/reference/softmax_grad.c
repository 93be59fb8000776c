/* softmax_grad.c - gradient of a softmax over the channels of each group, from its output. */
#include "prologue.c"

#define KERNEL softmax_grad
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_slope(const stored *dy, int i, int c, int d, int h, int p) {
    SIZES;
    return (double)load(dy, element(&DY, i, c, d, h, p));
}

UNUSED static void KERNEL_point(stored *dx, const stored *y, const stored *dy, int i, int d, int h, int p) {
    SIZES;
    const int each = C / GROUPS;
    double sum = 0;
    for (int c = 0; c < stored_channels(&DX); c++) {
        if (c < C && c % each == 0) {
            sum = 0;
            for (int k = c; k < c + each; k++)
                sum += (double)load(y, element(&Y, i, k, d, h, p)) * KERNEL_slope(dy, i, k, d, h, p);
        }
        store(dx, element(&DX, i, c, d, h, p),
              c < C ? (real)((double)load(y, element(&Y, i, c, d, h, p)) *
                             (KERNEL_slope(dy, i, c, d, h, p) - sum))
                    : 0);
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++)
                KERNEL_point(dx, y, dy, i, r / H, r % H, p);
}
/* END */
