/* max_pool.c - maximum over windows; padding counts as -infinity, a NaN as more than any number. */
#include "prologue.c"

#define KERNEL max_pool
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(const stored *x, int i, int c, int d, int h, int p) {
    SIZES;
    real maximum = (real)-INFINITY;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = d * SD - PD + kd * LD, ih = h * SH - PH + kh * LH, iw = p * SW - PW + kw * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW)) {
                    real v = load(x, element(&X, i, c, id, ih, iw));
                    if (v > maximum || v != v)
                        maximum = v;
                }
            }
    return maximum;
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
