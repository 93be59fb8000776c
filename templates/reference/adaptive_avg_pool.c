/* adaptive_avg_pool.c - means over parts of the image, as many as y has points, which together make up all
 * of it and may overlap by a point. */
#include "positions.c"

#define KERNEL adaptive_avg_pool
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(const stored *x, int i, int c, int od, int oh, int ow) {
    SIZES;
    const Rows d = part_of(od, D, ID), h = part_of(oh, H, IH), w = part_of(ow, W, IW);
    double sum = 0;
    for (int id = d.begin; id < d.end; id++)
        for (int ih = h.begin; ih < h.end; ih++)
            for (int iw = w.begin; iw < w.end; iw++)
                sum += (double)load(x, element(&X, i, c, id, ih, iw));
    return (real)(sum / (d.end - d.begin) / (h.end - h.begin) / (w.end - w.begin));
}

UNUSED static void KERNEL(int n, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = 0; r < D * H; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? KERNEL_point(x, i, c, r / H, r % H, p) : 0);
}
/* END */
