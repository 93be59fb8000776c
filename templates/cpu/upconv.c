/* upconv.c - transposed convolution over segments, with bias and ReLU.
 *
 * Point o of the output meets the points (o + P - k * L) / S of the input, where that is whole. The weights
 * are dense, so a work item, a strip of rows of the output, brings them panel by panel (a few blocks of
 * input channels, one tap, two vectors of output channels) into order and adds the panel's part to its
 * strip, which stays in the cache. */
#include "prologue.c"

#define KERNEL upconv
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Whether each point of the output has one tap, which then is first and last to reach it. */
INLINE int KERNEL_one_tap(void) {
    SIZES;
    return KD == SD && KH == SH && KW == SW && LD * LH * LW == 1 && PD + PH + PW == 0 && D == ID * SD &&
           H == IH * SH && W == IW * SW;
}

INLINE Tile KERNEL_start(const real *b, int v, int side_by_side) {
    SIZES;
    Tile t = {0};
    if (BIAS)
        t = (Tile){column_fill(bias_vector(b, CO, v)), column_fill(bias_vector(b, CO, v + side_by_side))};
    return t;
}

INLINE void KERNEL_tile(real *y, const real *x, const real *b, const Layout *in, int depth,
                        const Panel *panel, int v, Place o, int rows, int side_by_side) {
    SIZES;
    const int width = side_by_side ? 2 * LANES : LANES;
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Spot at = spot(&Y, v, o, SW, side_by_side);
    Tile t = panel->first ? KERNEL_start(b, v, side_by_side) : tile_load(y, at, e);
    for (int block = 0; block < panel->blocks; block++) {
        const real *a = x + block * in->plane, *w = panel->weights + block * depth * width;
        Numbers pixels = {a, side_by_side ? a : a + ROWS * depth, depth, 1};
        Weights weights = {w, side_by_side ? w + LANES : w, width, LANES};
        tile_multiply(&t, depth, pixels, weights, e);
    }
    tile_store(y, at, RELU && panel->last ? tile_relu(t) : t, e);
}

/* The tap reaches every SW-th pixel of the row, from o.w on; x is the pixel that meets the first. */
INLINE void KERNEL_row(real *y, const real *x, const real *b, const Layout *in, int depth,
                       const Panel *panel, int v, Place o, int side_by_side) {
    SIZES;
    enum { PIXELS = W / SW };
    const int rows = tile_rows(side_by_side);
    int j = 0;
    for (; j + rows <= PIXELS; j += rows, o.w += rows * SW)
        KERNEL_tile(y, x + j * depth, b, in, depth, panel, v, o, rows, side_by_side);
    if (PIXELS % rows) {
        KERNEL_tile(y, x + j * depth, b, in, depth, panel, v, o, PIXELS % rows, side_by_side);
        o.w += PIXELS % rows * SW;
    }
    if (o.w < W)
        KERNEL_tile(y, x + PIXELS * depth, b, in, depth, panel, v, o, 1, side_by_side);
}

/* What the panel's blocks, from `block` on of a segment, add through its tap to the rows [from, to) of the
 * batch. */
INLINE void KERNEL_panel(real *y, const real *x, const real *b, const Layout *in, int block,
                         const Panel *panel, const int *tap, int v, int from, int to, int side_by_side) {
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
            KERNEL_row(y, first, b, in, BLOCK, panel, v, o, side_by_side);
        else
            KERNEL_row(y, first, b, in, in->block, panel, v, o, side_by_side);
    }
}

/* Vectors v and, side by side, v + 1 of the rows [from, to) of the batch. */
INLINE void KERNEL_strip(real *y, const real *const *x, const real *w, const real *b, int v, int from,
                         int to, int side_by_side) {
    SIZES;
    const long taps = KD * KH * KW;
    Panel panel;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block += PANEL_BLOCKS)
            for (int k = 0; k < taps; k++) {
                const int c = block * in->block, tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
                panel.blocks = least(PANEL_BLOCKS, in->blocks - block);
                panel.first = KERNEL_one_tap() && s == 0 && block == 0;
                panel.last = KERNEL_one_tap() && s == SEGMENTS - 1 && block + PANEL_BLOCKS >= in->blocks;
                panel_fill(&panel, panel.blocks * in->block, side_by_side ? 2 * LANES : LANES,
                           w + ((first + c) * (long)CO + v * LANES) * taps + k, in->channels - c, CO * taps,
                           CO - v * LANES, taps);
                KERNEL_panel(y, x[s], b, in, block, &panel, tap, v, from, to, side_by_side);
            }
    }
}

/* Where points have several taps or none: the value before the first panel, and the ReLU after the last. */
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
            for (int r = start; !KERNEL_one_tap() && r < end; r++)
                for (int u = v; u < last; u++)
                    KERNEL_bias(y, b, r, u);
            if (v + 1 < last)
                KERNEL_strip(y, x, w, b, v, start, end, 1);
            else
                KERNEL_strip(y, x, w, b, v, start, end, 0);
            for (int r = start; RELU && !KERNEL_one_tap() && r < end; r++)
                for (int u = v; u < last; u++)
                    KERNEL_relu(y, r, u);
        }
}
/* END */
