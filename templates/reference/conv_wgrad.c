/* conv_wgrad.c - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias.
 *
 * `sums`, or without it `scratch`, holds the sums of a sample, as far as its rows have come: the sums of
 * the weights in the order of dw, then of the bias. They go to dw and db with the last row; with `sums`
 * wgrad_end.c brings them there. */
#include "prologue.c"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* SUM and what row r of positions of sample i adds to it: its products dy(co, o) * x(c, o * S - P + k * L),
 * c a channel of segment s; TRANSPOSED: x(c, o) * dy(co, o * S - P + k * L). */
UNUSED static double KERNEL_weight(double sum, int i, int r, const stored *x, const stored *dy, int s,
                                   int c, int co, const int *k) {
    SIZES;
    const int height = TRANSPOSED ? IH : H, width = TRANSPOSED ? IW : W, d = r / height, h = r % height;
    const int over[3] = {TRANSPOSED ? D : ID, TRANSPOSED ? H : IH, TRANSPOSED ? W : IW};
    for (int p = 0; p < width; p++) {
        const int o[3] = {d, h, p};
        const int met[3] = {d * SD - PD + k[0] * LD, h * SH - PH + k[1] * LH, p * SW - PW + k[2] * LW};
        const int *in = TRANSPOSED ? o : met, *out = TRANSPOSED ? met : o;
        if (inside(met[0], over[0]) && inside(met[1], over[1]) && inside(met[2], over[2]))
            sum += (double)load(x, element(&X[s], i, c, in[0], in[1], in[2])) *
                   (double)load(dy, element(&DY, i, co, out[0], out[1], out[2]));
    }
    return sum;
}

/* SUM and the points of dy that belong to row r of positions. */
UNUSED static double KERNEL_bias(double sum, int i, int r, const stored *dy, int co) {
    SIZES;
    const int height = TRANSPOSED ? IH : H;
    const Rows planes =
                   TRANSPOSED ? points_of(r / height, ID, SD, PD, D) : points_of(r / height, D, 1, 0, D),
               lines =
                   TRANSPOSED ? points_of(r % height, IH, SH, PH, H) : points_of(r % height, H, 1, 0, H);
    for (int d = planes.begin; d < planes.end; d++)
        for (int h = lines.begin; h < lines.end; h++)
            for (int p = 0; p < W; p++)
                sum += (double)load(dy, element(&DY, i, co, d, h, p));
    return sum;
}

/* One of the gradients; the sum of a sample so far is at *PARTIAL. x == NULL: the gradient by a bias. */
UNUSED static void KERNEL_gradient(int n, Rows rows, real *gradient, double *partial, const stored *x,
                                   const stored *dy, int s, int c, int co, const int *k) {
    SIZES;
    real total = ACCUMULATE && gradient != NULL ? *gradient : 0;
    for (int i = 0; i < n; i++) {
        double sum = rows.begin > 0 ? *partial : 0;
        for (int r = rows.begin; r < rows.end; r++)
            sum = x == NULL ? KERNEL_bias(sum, i, r, dy, co) : KERNEL_weight(sum, i, r, x, dy, s, c, co, k);
        *partial = sum;
        total += (real)sum;
    }
    if (gradient != NULL && rows.end == (TRANSPOSED ? ID * IH : D * H))
        *gradient = total;
}

UNUSED static void KERNEL(int n, Rows rows, real *dw, real *db, double *scratch, double *sums,
                          const stored *const *x, const stored *dy) {
    SIZES;
    const int some = rows.begin < rows.end, brings = sums == NULL;
    double *const at = brings ? scratch : sums;
#pragma omp for schedule(static)
    for (int co = 0; co < CO * some; co++) {
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int c = 0; c < X[s].channels; c++)
                for (int kd = 0; kd < KD; kd++)
                    for (int kh = 0; kh < KH; kh++)
                        for (int kw = 0; kw < KW; kw++) {
                            long pair =
                                TRANSPOSED ? (first + c) * (long)CO + co : co * (long)CI + first + c;
                            long weight = ((pair * KD + kd) * KH + kh) * KW + kw;
                            KERNEL_gradient(n, rows, brings ? dw + weight : NULL, at + weight, x[s], dy, s,
                                            c, co, (const int[]){kd, kh, kw});
                        }
        if (BIAS)
            KERNEL_gradient(n, rows, brings ? db + co : NULL, at + (long)CO * CI * KD * KH * KW + co, NULL,
                            dy, 0, 0, co, NULL);
    }
}
/* END */
