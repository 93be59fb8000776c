/* conv_wgrad.c - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias. */
#include "prologue.c"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Sum over the points o of sample i of dy(co, o) * x(c, o * S - P + k * L), c a channel of segment s;
 * TRANSPOSED: over the points o of x(c, o) * dy(co, o * S - P + k * L). */
UNUSED static double KERNEL_weight(int i, const stored *x, const stored *dy, int s, int c, int co,
                                   const int *k) {
    SIZES;
    const int depth = TRANSPOSED ? ID : D, height = TRANSPOSED ? IH : H, width = TRANSPOSED ? IW : W;
    const int over[3] = {TRANSPOSED ? D : ID, TRANSPOSED ? H : IH, TRANSPOSED ? W : IW};
    double sum = 0;
    for (int d = 0; d < depth; d++)
        for (int h = 0; h < height; h++)
            for (int p = 0; p < width; p++) {
                const int o[3] = {d, h, p};
                const int met[3] = {d * SD - PD + k[0] * LD, h * SH - PH + k[1] * LH,
                                    p * SW - PW + k[2] * LW};
                const int *in = TRANSPOSED ? o : met, *out = TRANSPOSED ? met : o;
                if (inside(met[0], over[0]) && inside(met[1], over[1]) && inside(met[2], over[2]))
                    sum += (double)load(x, element(&X[s], i, c, in[0], in[1], in[2])) *
                           (double)load(dy, element(&DY, i, co, out[0], out[1], out[2]));
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
                            long pair =
                                TRANSPOSED ? (first + c) * (long)CO + co : co * (long)CI + first + c;
                            long weight = ((pair * KD + kd) * KH + kh) * KW + kw;
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
