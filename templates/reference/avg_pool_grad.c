/* avg_pool_grad.c - gradient of a mean over windows: a point collects from the windows that hold it. */
#include "prologue.c"

#define KERNEL avg_pool_grad
#include "../example.h"

/* BEGIN */
/* How many points of window o along an axis are no padding. */
UNUSED static int KERNEL_inside(int o, int stride, int padding, int kernel, int extent) {
    int count = 0;
    for (int k = 0; k < kernel; k++)
        count += inside(o * stride - padding + k, extent);
    return count;
}

/* Over the windows that hold the point, in the order of the windows. */
UNUSED static real KERNEL_point(const stored *dy, int i, int c, int d, int h, int p) {
    SIZES;
    real sum = 0;
    for (int kd = KD - 1; kd >= 0; kd--)
        for (int kh = KH - 1; kh >= 0; kh--)
            for (int kw = KW - 1; kw >= 0; kw--) {
                int od = window_at(d, kd, SD, 1, PD, D), oh = window_at(h, kh, SH, 1, PH, H),
                    ow = window_at(p, kw, SW, 1, PW, W);
                if (od < 0 || oh < 0 || ow < 0)
                    continue;
                const int points = INSIDE ? KERNEL_inside(od, SD, PD, KD, ID) *
                                                KERNEL_inside(oh, SH, PH, KH, IH) *
                                                KERNEL_inside(ow, SW, PW, KW, IW)
                                          : 1;
                sum += load(dy, element(&DY, i, c, od, oh, ow)) / (real)points;
            }
    return INSIDE ? sum : sum / (KD * KH * KW);
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
