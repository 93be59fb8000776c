/* conv_groups_dgrad.c - gradient of a convolution in GROUPS groups of channels by its input; with a
 * BIAS it is a transposed convolution. */
#include "prologue.c"

#define KERNEL conv_groups_dgrad
#include "../example.h"

/* BEGIN */
UNUSED static real KERNEL_point(const stored *dy, const real *w, int i, int c, int d, int h, int p) {
    SIZES;
    const int in = CI / GROUPS, out = CO / GROUPS, first = c / in * out;
    double sum = 0;
    for (int co = first; co < first + out; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    const int od = window_at(d, kd, SD, LD, PD, D), oh = window_at(h, kh, SH, LH, PH, H),
                              ow = window_at(p, kw, SW, LW, PW, W);
                    const long weight = (((co * (long)in + c % in) * KD + kd) * KH + kh) * KW + kw;
                    if (od >= 0 && oh >= 0 && ow >= 0)
                        sum += (double)load(dy, element(&DY, i, co, od, oh, ow)) * (double)w[weight];
                }
    return (real)sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy, const real *w, const real *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++)
                    store(dx, element(&DX, i, c, r / IH, r % IH, p),
                          c < CI ? KERNEL_point(dy, w, i, c, r / IH, r % IH, p) + (BIAS ? b[c] : 0) : 0);
}
/* END */
