/* conv_dgrad.c - gradient of a convolution by one segment of its input. */
#include "prologue.c"

#define KERNEL conv_dgrad
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_point(const stored *dy, const real *w, int i, int c, const int *p) {
    SIZES;
    double sum = 0;
    for (int co = 0; co < CO; co++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(p[0], kd, SD, LD, PD, D), h = window_at(p[1], kh, SH, LH, PH, H);
                    int v = window_at(p[2], kw, SW, LW, PW, W);
                    long weight = (((co * (long)CI + C0 + c) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(dy, element(&DY, i, co, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy, const real *w, const stored *m) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < IW; p++) {
                    int passes = c < CS && !(MASK && !(load(m, element(&M, i, c, r / IH, r % IH, p)) > 0));
                    store(dx, element(&DX, i, c, r / IH, r % IH, p),
                          passes ? (real)KERNEL_point(dy, w, i, c, (const int[]){r / IH, r % IH, p}) : 0);
                }
}
/* END */
