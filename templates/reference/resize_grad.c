/* resize_grad.c - gradient of a map of another size: a point collects from the points that are made of it.
 */
#include "positions.c"

#define KERNEL resize_grad
#include "../example.h"

/* BEGIN */
/* Over all points of y, in their order: most have no share in the point. */
UNUSED static real KERNEL_point(const stored *dy, int i, int c, int d, int h, int p) {
    SIZES;
    const Positions along[3] = {{STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO},
                                {STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO},
                                {STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO}};
    real sum = 0;
    for (int od = 0; od < D; od++)
        for (int oh = 0; oh < H; oh++) {
            const double share = share_in(along[0], d, od) * share_in(along[1], h, oh);
            for (int ow = 0; share > 0 && ow < W; ow++)
                if (share_in(along[2], p, ow) > 0)
                    sum += (real)(share * share_in(along[2], p, ow)) *
                           load(dy, element(&DY, i, c, od, oh, ow));
        }
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++)
                    store(dx, element(&DX, i, c, r / IH, r % IH, p),
                          c < C ? KERNEL_point(dy, i, c, r / IH, r % IH, p) : 0);
}
/* END */
