/* conv_groups.c - convolution in GROUPS groups of channels: each output channel sums over the channels
 * of its group. */
#include "prologue.c"

#define KERNEL conv_groups
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(const stored *x, const real *w, int i, int co, int d, int h, int p) {
    SIZES;
    const int in = CI / GROUPS, first = co / (CO / GROUPS) * in;
    double sum = 0;
    for (int j = 0; j < in; j++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    const int id = d * SD - PD + kd * LD, ih = h * SH - PH + kh * LH,
                              iw = p * SW - PW + kw * LW;
                    const long weight = (((co * (long)in + j) * KD + kd) * KH + kh) * KW + kw;
                    if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                        sum += (double)load(x, element(&X, i, first + j, id, ih, iw)) * (double)w[weight];
                }
    return (real)sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x, const real *w, const real *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, co, r / H, r % H, p),
                          co < CO ? KERNEL_point(x, w, i, co, r / H, r % H, p) + (BIAS ? b[co] : 0) : 0);
}
/* END */
