/* upconv.c - transposed convolution over segments, with bias and ReLU.
 *
 * Point o of the output meets the points (o + P - k * L) / S of the input, where that is whole. The weights
 * are dense, so a work item, a strip of rows of the output, brings them panel by panel (one block of input
 * channels, one tap, two vectors of output channels) into order and adds the panel's part to its strip,
 * which stays in the cache. */
#include "prologue.c"

#define KERNEL upconv
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
INLINE void KERNEL_tile(real *y, const real *x, int depth, const real *panel, int v, Place o, int rows,
                        int side_by_side) {
    SIZES;
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Numbers pixels = {x, side_by_side ? x : x + ROWS * depth, depth, 1};
    Weights weights = {panel, side_by_side ? panel + LANES : panel, side_by_side ? 2 * LANES : LANES,
                       LANES};
    Spot at = spot(&Y, v, o, SW, side_by_side);
    Tile t = tile_load(y, at, e);
    tile_multiply(&t, depth, pixels, weights, e);
    tile_store(y, at, t, e);
}

/* The tap reaches every SW-th pixel of the row, from o.w on; x is the pixel that meets the first. */
INLINE void KERNEL_row(real *y, const real *x, int depth, const real *panel, int v, Place o,
                       int side_by_side) {
    SIZES;
    enum { PIXELS = W / SW };
    const int rows = tile_rows(side_by_side);
    int j = 0;
    for (; j + rows <= PIXELS; j += rows, o.w += rows * SW)
        KERNEL_tile(y, x + j * depth, depth, panel, v, o, rows, side_by_side);
    if (PIXELS % rows) {
        KERNEL_tile(y, x + j * depth, depth, panel, v, o, PIXELS % rows, side_by_side);
        o.w += PIXELS % rows * SW;
    }
    if (o.w < W)
        KERNEL_tile(y, x + PIXELS * depth, depth, panel, v, o, 1, side_by_side);
}

/* What one channel block of a segment adds through one tap to the rows [from, to) of the batch. */
INLINE void KERNEL_panel(real *y, const real *x, const Layout *in, int block, const real *panel,
                         const int *tap, int v, int from, int to, int side_by_side) {
    SIZES;
    const int phase = ((tap[2] * LW - PW) % SW + SW) % SW;
    for (int r = from; r < to; r++) {
        Place o = {r / (D * H), r / H % D, r % H, phase};
        int d = o.d + PD - tap[0] * LD, h = o.h + PH - tap[1] * LH;
        if (d % SD != 0 || h % SH != 0 || phase >= W)
            continue;
        Place p = {o.n, d / SD, h / SH, (phase + PW - tap[2] * LW) / SW};
        const real *first = x + point(in, block, p);
        if (in->block == BLOCK) /* a constant, which in->block need not be */
            KERNEL_row(y, first, BLOCK, panel, v, o, side_by_side);
        else
            KERNEL_row(y, first, in->block, panel, v, o, side_by_side);
    }
}

/* Vectors v and, side by side, v + 1 of the rows [from, to) of the batch. */
INLINE void KERNEL_strip(real *y, const real *const *x, const real *w, int v, int from, int to,
                         int side_by_side) {
    SIZES;
    const long taps = KD * KH * KW;
    const int width = side_by_side ? 2 * LANES : LANES;
    real panel[BLOCK * 2 * LANES];
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block++)
            for (int k = 0; k < taps; k++) {
                const int c = block * in->block, tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
                panel_fill(panel, in->block, width, w + ((first + c) * (long)CO + v * LANES) * taps + k,
                           in->channels - c, CO * taps, CO - v * LANES, taps);
                KERNEL_panel(y, x[s], in, block, panel, tap, v, from, to, side_by_side);
            }
    }
}

/* The value before the first panel, and the ReLU after the last, of one row. */
INLINE void KERNEL_bias(real *y, const real *b, int r, int v) {
    SIZES;
    Vector bias = BIAS ? bias_vector(b, CO, v) : (Vector){0};
    for (Place o = {r / (D * H), r / H % D, r % H, 0}; o.w < W; o.w++)
        store_some(y + vector_at(&Y, v, o), bias, lanes(&Y, v));
}

INLINE void KERNEL_relu(real *y, int r, int v) {
    SIZES;
    for (Place o = {r / (D * H), r / H % D, r % H, 0}; o.w < W; o.w++) {
        real *at = y + vector_at(&Y, v, o);
        store_some(at, vector_relu(load_some(at, lanes(&Y, v))), lanes(&Y, v));
    }
}

UNUSED static void KERNEL(int n, real *restrict y, const real *const *x, const real *w, const real *b) {
    SIZES;
    const int rows = n * D * H, strip = panel_strip(rows, W, (vectors(&Y) + 1) / 2);
#pragma omp for collapse(2) schedule(static)
    for (int start = 0; start < rows; start += strip)
        for (int v = 0; v < vectors(&Y); v += 2) {
            const int end = least(start + strip, rows), last = least(v + 2, vectors(&Y));
            for (int r = start; r < end; r++)
                for (int u = v; u < last; u++)
                    KERNEL_bias(y, b, r, u);
            if (v + 1 < last)
                KERNEL_strip(y, x, w, v, start, end, 1);
            else
                KERNEL_strip(y, x, w, v, start, end, 0);
            for (int r = start; RELU && r < end; r++)
                for (int u = v; u < last; u++)
                    KERNEL_relu(y, r, u);
        }
}
/* END */
