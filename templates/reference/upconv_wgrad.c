/* upconv_wgrad.c - gradients of a transposed convolution by its weights and its bias. */
#include "prologue.c"

#define KERNEL upconv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Sum over the points of sample i of x(c, i) * dy(co, i * S - P + k * L), c a channel of segment s. */
UNUSED static double KERNEL_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    SIZES;
    double sum = 0;
    for (int id = 0; id < ID; id++)
        for (int ih = 0; ih < IH; ih++)
            for (int iw = 0; iw < IW; iw++) {
                int d = id * SD - PD + k[0] * LD, h = ih * SH - PH + k[1] * LH,
                    p = iw * SW - PW + k[2] * LW;
                if (inside(d, D) && inside(h, H) && inside(p, W))
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
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                            real sum = ACCUMULATE ? dw[weight] : 0;
                            for (int i = 0; i < n; i++)
                                sum +=
                                    (real)KERNEL_weight(i, x[s], dy, s, c, co, (const int[]){kd, kh, kw});
                            dw[weight] = sum;
                        }
        real sum = BIAS && ACCUMULATE ? db[co] : 0;
        for (int i = 0; i < n; i++)
            sum += (real)KERNEL_bias(i, dy, co);
        if (BIAS)
            db[co] = sum;
    }
}
/* END */
