/* border_grad.c - gradient of a tensor with points around it: the sum over the copies of each point. */
#include "borders.c"

#define KERNEL border_grad
#include "../example.h"

/* BEGIN */
/* Sums over the copies of a point, along each axis the point itself first. */
UNUSED static double KERNEL_sum(const stored *dy, int i, int c, int d, int h, int w) {
    SIZES;
    double sum = 0;
    for (int k = 0; k < BORDER_COPIES * BORDER_COPIES * BORDER_COPIES; k++) {
        const int p = border_copy(BORDER_D, k / (BORDER_COPIES * BORDER_COPIES), d, ID, BEFORE_D, D),
                  r = border_copy(BORDER_H, k / BORDER_COPIES % BORDER_COPIES, h, IH, BEFORE_H, H),
                  q = border_copy(BORDER_W, k % BORDER_COPIES, w, IW, BEFORE_W, W);
        if (p >= 0 && r >= 0 && q >= 0)
            sum += (double)load(dy, element(&DY, i, c, p, r, q));
    }
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < IW; w++)
                    store(dx, element(&DX, i, c, r / IH, r % IH, w),
                          c < C ? (real)KERNEL_sum(dy, i, c, r / IH, r % IH, w) : 0);
}
/* END */
