/* resize.c - a map of another size: of each point the nearest one, or the mean of those around it; or x
 * with an edge taken away or added. */
#include "positions.c"

#define KERNEL resize
#include "../example.h"

/* BEGIN */
/* The sum over the corners around the point. */
UNUSED static real KERNEL_point(const stored *x, int i, int c, int d, int h, int p) {
    SIZES;
    const Positions along[3] = {{STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO},
                                {STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO},
                                {STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO}};
    const Made md = made_of(along[0], d), mh = made_of(along[1], h), mw = made_of(along[2], p);
    real sum = 0;
    for (int kd = 0; kd < (LINEAR && ID > 1 ? 2 : 1); kd++)
        for (int kh = 0; kh < (LINEAR ? 2 : 1); kh++)
            for (int kw = 0; kw < (LINEAR ? 2 : 1); kw++) {
                const int id = md.point[kd], ih = mh.point[kh], iw = mw.point[kw];
                if (!ZERO || (inside(id, ID) && inside(ih, IH) && inside(iw, IW)))
                    sum += (real)(md.share[kd] * mh.share[kh] * mw.share[kw]) *
                           load(x, element(&X, i, c, id, ih, iw));
            }
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? KERNEL_point(x, i, c, r / H, r % H, p) : 0);
}
/* END */
