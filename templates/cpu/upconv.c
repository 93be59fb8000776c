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

/* Where sums lie between panels. */
INLINE Spot KERNEL_spot(Strip strip, int v, Point o, int stride, int side_by_side) {
    SIZES;
    const int row = (o.n * D + o.d) * H + o.h - strip.from, column = o.w - strip.left;
    return SIXTEEN_BITS ? strip_spot((long)row * W + column, stride, side_by_side)
                        : spot(&Y, v, o, stride, side_by_side);
}

INLINE Tile KERNEL_start(const real *b, int v, int side_by_side) {
    SIZES;
    Tile t = {0};
    if (BIAS)
        t = (Tile){column_fill(bias_vector(b, CO, v)), column_fill(bias_vector(b, CO, v + side_by_side))};
    return t;
}

INLINE void KERNEL_tile(stored *y, const stored *x, const real *b, const Layout *in, int depth,
                        const Panel *panel, int v, Point o, int rows, int side_by_side) {
    SIZES;
    const int width = side_by_side ? 2 * LANES : LANES;
    _Alignas(64) real copy[SIXTEEN_BITS ? 2 * ROWS * BLOCK : 1];
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Spot sum = KERNEL_spot(panel->strip, v, o, SW, side_by_side);
    Tile t = panel->first ? KERNEL_start(b, v, side_by_side) : tile_load(1, panel->strip.sums, sum, e);
    for (int block = 0; block < panel->blocks; block++) {
        const real *a = scalars(x + block * in->plane, copy, rows * depth);
        const real *w = panel->weights + block * depth * width;
        Scalars pixels = {a, side_by_side ? a : a + ROWS * depth, depth, 1};
        Weights weights = {w, side_by_side ? w + LANES : w, width, LANES};
        tile_multiply(&t, depth, pixels, weights, e);
    }
    if (RELU && panel->last)
        t = tile_relu(t);
    if (SIXTEEN_BITS && panel->last)
        tile_store(0, y, spot(&Y, v, o, SW, side_by_side), t, e);
    else
        tile_store(1, panel->strip.sums, sum, t, e);
}

/* The tap reaches every SW-th pixel of the row, from o.w on; x is the pixel that meets the first, in the
 * first strip. */
INLINE void KERNEL_row(stored *y, const stored *x, const real *b, const Layout *in, int depth,
                       const Panel *panel, int v, Point o, int side_by_side) {
    SIZES;
    enum { PIXELS = W / SW };
    const int rows = tile_rows(side_by_side);
    int j = panel->strip.left / SW;
    for (o.w += panel->strip.left; j + rows <= panel->strip.right / SW; j += rows, o.w += rows * SW)
        KERNEL_tile(y, x + j * depth, b, in, depth, panel, v, o, rows, side_by_side);
    if (panel->strip.right < W)
        return;
    if (PIXELS % rows) {
        KERNEL_tile(y, x + j * depth, b, in, depth, panel, v, o, PIXELS % rows, side_by_side);
        o.w += PIXELS % rows * SW;
    }
    if (o.w < W)
        KERNEL_tile(y, x + PIXELS * depth, b, in, depth, panel, v, o, 1, side_by_side);
}

/* What the panel's blocks, from `block` on of a segment, add through its tap to the strip. */
INLINE void KERNEL_panel(stored *y, const stored *x, const real *b, const Layout *in, int block,
                         const Panel *panel, const int *tap, int v, int side_by_side) {
    SIZES;
    const int phase = ((tap[2] * LW - PW) % SW + SW) % SW;
    for (int r = panel->strip.from; r < panel->strip.to; r++) {
        Point o = {r / (D * H), r / H % D, r % H, phase};
        int d = o.d + PD - tap[0] * LD, h = o.h + PH - tap[1] * LH;
        if (d % SD != 0 || h % SH != 0 || phase >= W)
            continue;
        Point p = {o.n, d / SD, h / SH, (phase + PW - tap[2] * LW) / SW};
        const stored *first = x + offset_of(in, block, p);
        if (in->block == BLOCK) /* a constant, which in->block need not be */
            KERNEL_row(y, first, b, in, BLOCK, panel, v, o, side_by_side);
        else
            KERNEL_row(y, first, b, in, in->block, panel, v, o, side_by_side);
    }
}

/* Vectors v and, side by side, v + 1 of the strip. */
INLINE void KERNEL_panels(stored *y, const stored *const *x, const real *w, const real *b, Strip strip,
                          int v, int side_by_side) {
    SIZES;
    const long taps = KD * KH * KW;
    Panel panel;
    panel.strip = strip;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block += PANEL_BLOCKS)
            for (int k = 0; k < taps; k++) {
                const int c = block * in->block, tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
                panel.blocks = min_int(PANEL_BLOCKS, in->blocks - block);
                panel.first = KERNEL_one_tap() && s == 0 && block == 0;
                panel.last = KERNEL_one_tap() && s == SEGMENTS - 1 && block + PANEL_BLOCKS >= in->blocks;
                panel_fill(&panel, panel.blocks * in->block, side_by_side ? 2 * LANES : LANES,
                           w + ((first + c) * (long)CO + v * LANES) * taps + k, in->channels - c, CO * taps,
                           CO - v * LANES, taps);
                KERNEL_panel(y, x[s], b, in, block, &panel, tap, v, side_by_side);
            }
    }
}

/* Where points have several taps or none: the value before the first panel, and what follows the last. */
INLINE void KERNEL_bias(const real *b, Strip strip, int v, int r, int side_by_side) {
    SIZES;
    for (Point o = {r / (D * H), r / H % D, r % H, strip.left}; o.w < strip.right; o.w++) {
        Spot sum = KERNEL_spot(strip, v, o, 1, side_by_side);
        store_some_real(strip.sums + sum.a, KERNEL_start(b, v, side_by_side).a.v0, lanes(&Y, v));
        if (side_by_side)
            store_some_real(strip.sums + sum.b, KERNEL_start(b, v, side_by_side).b.v0, LANES);
    }
}

INLINE void KERNEL_finish(stored *y, Strip strip, int v, int r, int side_by_side) {
    SIZES;
    for (Point o = {r / (D * H), r / H % D, r % H, strip.left}; o.w < strip.right; o.w++) {
        Spot at = spot(&Y, v, o, 1, side_by_side), sum = KERNEL_spot(strip, v, o, 1, side_by_side);
        Tile t = tile_load(1, strip.sums, sum, extent(1, side_by_side, lanes(&Y, v)));
        tile_store(0, y, at, RELU ? tile_relu(t) : t, extent(1, side_by_side, lanes(&Y, v)));
    }
}

INLINE void KERNEL_strip(stored *y, const stored *const *x, const real *w, const real *b, Strip strip,
                         int v, int side_by_side) {
    SIZES;
    for (int r = strip.from; !KERNEL_one_tap() && r < strip.to; r++)
        KERNEL_bias(b, strip, v, r, side_by_side);
    KERNEL_panels(y, x, w, b, strip, v, side_by_side);
    for (int r = strip.from; (RELU || SIXTEEN_BITS) && !KERNEL_one_tap() && r < strip.to; r++)
        KERNEL_finish(y, strip, v, r, side_by_side);
}

UNUSED static void KERNEL(int n, stored *restrict y, const stored *const *x, const real *w, const real *b) {
    SIZES;
    const int rows = n * D * H, length = panel_strip(rows, W, (vectors(&Y) + 1) / 2);
#pragma omp for collapse(2) schedule(static)
    for (int start = 0; start < rows; start += length)
        for (int v = 0; v < vectors(&Y); v += 2)
            for (int left = 0; left < W; left += STRIP_WIDTH(W, SW)) {
                _Alignas(64) real sums[STRIP_SUMS(W, SW)];
                const Strip strip = {SIXTEEN_BITS ? sums : (void *)y, start, min_int(start + length, rows),
                                     left, min_int(left + STRIP_WIDTH(W, SW), W)};
                if (v + 1 < vectors(&Y))
                    KERNEL_strip(y, x, w, b, strip, v, 1);
                else
                    KERNEL_strip(y, x, w, b, strip, v, 0);
            }
}
/* END */
