/* upconv_dgrad.c - gradient of a transposed convolution by one segment of its input: a convolution of dy
 * with the stride of the forward operator. The weights are dense; see upconv.c for panels and strips. */
#include "prologue.c"

#define KERNEL upconv_dgrad
#include "../example.h"

/* BEGIN */
/* Where sums lie between panels. */
INLINE Spot KERNEL_spot(Strip strip, int v, Point p, int side_by_side) {
    SIZES;
    const int row = (p.n * ID + p.d) * IH + p.h - strip.from, column = p.w - strip.left;
    return SIXTEEN_BITS ? strip_spot((long)row * IW + column, 1, side_by_side)
                        : spot(&DX, v, p, 1, side_by_side);
}

/* The pixels that a tile meets in one block, one after the other. */
INLINE const real *KERNEL_scalars(const stored *dy, real *copy, int rows) {
    SIZES;
    for (int r = 0; SIXTEEN_BITS && r < rows; r++)
        scalars(dy + r * SW * DY.block, copy + r * DY.block, DY.block);
    return scalars_at(dy, copy);
}

INLINE void KERNEL_tile(stored *dx, const stored *dy, const stored *m, const Panel *panel, int v, Point p,
                        int rows, int side_by_side) {
    SIZES;
    const int width = side_by_side ? 2 * LANES : LANES;
    const long row = SIXTEEN_BITS ? DY.block : SW * DY.block;
    _Alignas(64) real copy[SIXTEEN_BITS ? 2 * ROWS * BLOCK : 1];
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    Spot sum = KERNEL_spot(panel->strip, v, p, side_by_side);
    Tile t = panel->first ? (Tile){0} : tile_load(1, panel->strip.sums, sum, e);
    for (int block = 0; block < panel->blocks; block++) {
        const real *a = KERNEL_scalars(dy + block * DY.plane, copy, rows);
        const real *w = panel->weights + block * DY.block * width;
        Scalars pixels = {a, side_by_side ? a : a + ROWS * row, row, 1};
        Weights weights = {w, side_by_side ? w + LANES : w, width, LANES};
        tile_multiply(&t, DY.block, pixels, weights, e);
    }
    if (MASK && panel->last)
        t = tile_mask(t, tile_load(0, m, spot(&M, v, p, 1, side_by_side), e));
    if (SIXTEEN_BITS && panel->last)
        tile_store(0, dx, spot(&DX, v, p, 1, side_by_side), t, e);
    else
        tile_store(1, panel->strip.sums, sum, t, e);
}

/* What the panel's blocks, from `block` on of dy, add through its tap to the strip. */
INLINE void KERNEL_panel(stored *dx, const stored *dy, const stored *m, int block, const Panel *panel,
                         const int *tap, int v, int side_by_side) {
    SIZES;
    const int rows = tile_rows(side_by_side);
    const Strip strip = panel->strip;
    for (int r = strip.from; r < strip.to; r++) {
        Point p = {r / (ID * IH), r / IH % ID, r % IH, strip.left};
        Point o = {p.n, p.d * SD - PD + tap[0] * LD, p.h * SH - PH + tap[1] * LH, tap[2] * LW - PW};
        const stored *first = dy + offset_of(&DY, block, o);
        for (; p.w + rows <= strip.right; p.w += rows)
            KERNEL_tile(dx, first + p.w * (SW * DY.block), m, panel, v, p, rows, side_by_side);
        if (IW % rows && strip.right == IW)
            KERNEL_tile(dx, first + p.w * (SW * DY.block), m, panel, v, p, IW % rows, side_by_side);
    }
}

/* Vectors v and, side by side, v + 1 of the strip. */
INLINE void KERNEL_strip(stored *dx, const stored *dy, const real *w, const stored *m, Strip strip, int v,
                         int side_by_side) {
    SIZES;
    const long taps = KD * KH * KW;
    Panel panel;
    panel.strip = strip;
    for (int block = 0; block < DY.blocks; block += PANEL_BLOCKS)
        for (int k = 0; k < taps; k++) {
            const int co = block * DY.block, tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
            panel.blocks = min_int(PANEL_BLOCKS, DY.blocks - block);
            panel.first = block == 0 && k == 0;
            panel.last = block + PANEL_BLOCKS >= DY.blocks && k == taps - 1;
            panel_fill(&panel, panel.blocks * DY.block, side_by_side ? 2 * LANES : LANES,
                       w + ((C0 + v * LANES) * (long)CO + co) * taps + k, CO - co, taps, CS - v * LANES,
                       CO * taps);
            KERNEL_panel(dx, dy, m, block, &panel, tap, v, side_by_side);
        }
}

UNUSED static void KERNEL(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m) {
    SIZES;
    const int rows = n * ID * IH, length = panel_strip(rows, IW, (vectors(&DX) + 1) / 2);
#pragma omp for collapse(2) schedule(static)
    for (int start = 0; start < rows; start += length)
        for (int v = 0; v < vectors(&DX); v += 2)
            for (int left = 0; left < IW; left += STRIP_WIDTH(IW, 1)) {
                _Alignas(64) real sums[STRIP_SUMS(IW, 1)];
                const Strip strip = {SIXTEEN_BITS ? sums : (void *)dx, start, min_int(start + length, rows),
                                     left, min_int(left + STRIP_WIDTH(IW, 1), IW)};
                if (v + 1 < vectors(&DX))
                    KERNEL_strip(dx, dy, w, m, strip, v, 1);
                else
                    KERNEL_strip(dx, dy, w, m, strip, v, 0);
            }
}
/* END */
