/* point_softmax_grad.c - gradient of a softmax over all points of each channel, from its output. */
#include "prologue.c"

#define KERNEL point_softmax_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL_channel(stored *dx, const stored *y, const stored *dy, int i, int c) {
    SIZES;
    double sum = 0;
    for (int point = 0; point < D * H * W && c < C; point++)
        sum += (double)load(y, element(&Y, i, c, point / W / H, point / W % H, point % W)) *
               (double)load(dy, element(&DY, i, c, point / W / H, point / W % H, point % W));
    for (int point = 0; point < D * H * W; point++) {
        const int d = point / W / H, h = point / W % H, w = point % W;
        store(dx, element(&DX, i, c, d, h, w),
              c < C ? (real)((double)load(y, element(&Y, i, c, d, h, w)) *
                             ((double)load(dy, element(&DY, i, c, d, h, w)) - sum))
                    : 0);
    }
}

UNUSED static void KERNEL(int n, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            KERNEL_channel(dx, y, dy, i, c);
}
/* END */
