/* max_unpool_grad.c - gradient of what was brought to the maxima of windows of x: from there it comes back.
 */
#include "prologue.c"

#define KERNEL max_unpool_grad
#include "../example.h"

/* BEGIN */
/* The maximum of window (d, h, p); a NaN is more than any number. */
UNUSED static real KERNEL_point(const stored *x, const stored *dy, int i, int c, int d, int h, int p) {
    SIZES;
    real maximum = -INFINITY, gradient = 0;
    int any = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                const int id = d * SD - PD + kd, ih = h * SH - PH + kh, iw = p * SW - PW + kw;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                const real v = load(x, element(&X, i, c, id, ih, iw));
                if (any && !(v > maximum || v != v))
                    continue;
                any = 1;
                maximum = v;
                gradient = load(dy, element(&DY, i, c, id, ih, iw));
            }
    return gradient;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          c < C ? KERNEL_point(x, dy, i, c, r / H, r % H, p) : 0);
}
/* END */
