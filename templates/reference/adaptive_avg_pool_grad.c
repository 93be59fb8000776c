/* adaptive_avg_pool_grad.c - gradient of means over parts of the image: a point collects from the parts
 * that hold it. */
#include "positions.c"

#define KERNEL adaptive_avg_pool_grad
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(const stored *dy, int i, int c, int id, int ih, int iw) {
    SIZES;
    double sum = 0;
    for (int od = 0; od < D; od++)
        for (int oh = 0; oh < H; oh++)
            for (int ow = 0; ow < W; ow++) {
                const Rows d = part_of(od, D, ID), h = part_of(oh, H, IH), w = part_of(ow, W, IW);
                if (holds(d, id) && holds(h, ih) && holds(w, iw))
                    sum += (double)load(dy, element(&DY, i, c, od, oh, ow)) / (d.end - d.begin) /
                           (h.end - h.begin) / (w.end - w.begin);
            }
    return (real)sum;
}

UNUSED static void KERNEL(int n, stored *dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = 0; r < ID * IH; r++)
                for (int p = 0; p < IW; p++)
                    store(dx, element(&DX, i, c, r / IH, r % IH, p),
                          c < C ? KERNEL_point(dy, i, c, r / IH, r % IH, p) : 0);
}
/* END */
