/* avg_pool.c - mean over windows; padding counts as zeros, which the mean includes (PyTorch's
 * count_include_pad), or, INSIDE, it does not count. */
#include "prologue.c"

#define KERNEL avg_pool
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(const stored *x, int i, int c, int d, int h, int p) {
    SIZES;
    real sum = 0;
    int count = 0;
    for (int kd = 0; kd < KD; kd++)
        for (int kh = 0; kh < KH; kh++)
            for (int kw = 0; kw < KW; kw++) {
                int id = d * SD - PD + kd, ih = h * SH - PH + kh, iw = p * SW - PW + kw;
                if (!inside(id, ID) || !inside(ih, IH) || !inside(iw, IW))
                    continue;
                sum += load(x, element(&X, i, c, id, ih, iw));
                count++;
            }
    return sum / (INSIDE ? count : KD * KH * KW);
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
