/* conv_wgrad.c - gradients of a convolution by its weights and its bias. */
#include "prologue.c"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Sum over the points of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s. */
UNUSED static double KERNEL_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    SIZES;
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++) {
                int id = d * SD - PD + k[0] * LD, ih = h * SH - PH + k[1] * LH,
                    iw = p * SW - PW + k[2] * LW;
                if (inside(id, ID) && inside(ih, IH) && inside(iw, IW))
                    sum += (double)load(x, element(&X[s], i, c, id, ih, iw)) *
                           (double)load(dy, element(&DY, i, co, d, h, p));
            }
    return sum;
}

UNUSED static double KERNEL_bias(int i, const stored *dy, int co) {
    SIZES;
    double sum = 0;
    for (int d = 0; d < D; d++)
        for (int h = 0; h < H; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

UNUSED static void KERNEL(int n, real *dw, real *db, real *scratch, const stored *const *x,
                          const stored *dy) {
    SIZES;
    (void)scratch;
#pragma omp for schedule(static)
    for (int co = 0; co < CO; co++) {
        real *to = dw + co * (long)CI * KD * KH * KW;
        for (int s = 0; s < SEGMENTS; s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            real sum = ACCUMULATE ? *to : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)KERNEL_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            *to++ = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)KERNEL_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}
/* END */
