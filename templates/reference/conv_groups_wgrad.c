/* conv_groups_wgrad.c - gradients of a convolution in GROUPS groups of channels by its weights and its
 * bias. */
#include "prologue.c"

#define KERNEL conv_groups_wgrad
#include "../example.h"

/* BEGIN */
/* The gradient of sample i; x == NULL: the gradient by the bias. */
UNUSED static real KERNEL_sample(int i, const stored *x, const stored *dy, int c, int co, int kd, int kh,
                                 int kw) {
    SIZES;
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                const int id = d * SD - PD + kd * LD, ih = h * SH - PH + kh * LH,
                          iw = p * SW - PW + kw * LW;
                const double slope = (double)load(dy, element(&DY, i, co, d, h, p));
                if (x == NULL)
                    sum += slope;
                else if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += slope * (double)load(x, element(&X, i, c, id, ih, iw));
            }
    return (real)sum;
}

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, const stored *x, const stored *dy) {
    SIZES;
    (void)scratch;
    const int in = CI / GROUPS;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        const int first = co / (CO / GROUPS) * in;
        real *to = dw + (long)co * in * KD * KH * KW;
        for (int j = 0; j < in; j++)
            for (int kd = 0; kd < KD; kd++)
                for (int kh = 0; kh < KH; kh++)
                    for (int kw = 0; kw < KW; kw++, to++) {
                        *to = ACCUMULATE ? *to : 0;
                        for (int i = 0; i < n; i++)
                            *to += KERNEL_sample(i, x, dy, first + j, co, kd, kh, kw);
                    }
        if (BIAS)
            db[co] = ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n && BIAS; i++)
            db[co] += KERNEL_sample(i, NULL, dy, 0, co, 0, 0, 0);
    }
}
/* END */
