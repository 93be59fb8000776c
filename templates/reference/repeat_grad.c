/* repeat_grad.c - gradient of a tensor that was repeated: sums over what it was repeated along, in the
 * order of channels, planes, rows and points. */
#include "prologue.c"

#define KERNEL repeat_grad
#include "../example.h"

/* BEGIN */
/* The indices along an axis that became one: all, or the index itself. */
UNUSED static Rows KERNEL_along(int small, int large, int at) {
    return small == 1 ? (Rows){.begin = 0, .end = large} : (Rows){.begin = at, .end = at + 1};
}

UNUSED static double KERNEL_sum(const stored *dy, int i, int c, int d, int h, int w) {
    SIZES;
    const Rows channels = KERNEL_along(CB, C, c), planes = KERNEL_along(BD, D, d),
               lines = KERNEL_along(BH, H, h), points = KERNEL_along(BW, W, w);
    double sum = 0;
    for (int k = channels.begin; k < channels.end; k++)
        for (int p = planes.begin; p < planes.end; p++)
            for (int l = lines.begin; l < lines.end; l++)
                for (int q = points.begin; q < points.end; q++)
                    sum += (double)load(dy, element(&DY, i, k, p, l, q));
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < BW; w++)
                    store(dx, element(&DX, i, c, r / BH, r % BH, w),
                          c < CB ? (real)KERNEL_sum(dy, i, c, r / BH, r % BH, w) : 0);
}
/* END */
