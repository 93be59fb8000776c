/* upconv.c - transposed convolution over segments, with bias and ReLU. */
#include "prologue.c"

#define KERNEL upconv
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* The part of output (co, o) of sample i that comes through segment s, whose channels start at `first`. */
UNUSED static double KERNEL_segment(const stored *x, const real *w, int i, int s, int first, int co,
                                    const int *o) {
    SIZES;
    double sum = 0;
    for (int c = 0; c < X[s].channels; c++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int d = window_at(o[0], kd, SD, LD, PD, ID), h = window_at(o[1], kh, SH, LH, PH, IH);
                    int v = window_at(o[2], kw, SW, LW, PW, IW);
                    long weight = ((((first + c) * (long)CO + co) * KD + kd) * KH + kh) * KW + kw;
                    if (d >= 0 && h >= 0 && v >= 0)
                        sum += (double)load(x, element(&X[s], i, c, d, h, v)) * (double)rounded(w[weight]);
                }
    return sum;
}

UNUSED static double KERNEL_point(const stored *const *x, const real *w, const real *b, int i, int co,
                                  const int *o) {
    SIZES;
    double sum = BIAS ? (double)b[co] : 0;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
        sum += KERNEL_segment(x[s], w, i, s, first, co, o);
    return RELU && sum < 0 ? 0 : sum;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *const *x, const real *w,
                          const real *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int co = 0; co < stored_channels(&Y); co++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, co, r / H, r % H, p),
                          co < CO ? (real)KERNEL_point(x, w, b, i, co, (const int[]){r / H, r % H, p}) : 0);
}
/* END */
