/* upconv_dgrad.c - gradient of a transposed convolution by one segment of its input: a convolution of dy
 * with the stride of the forward operator. The weights are dense; see upconv.c for panels and strips. */
#include "prologue.c"

#define KERNEL upconv_dgrad
#include "../example.h"

/* BEGIN */
INLINE void KERNEL_tile(real *dx, const real *dy, const real *m, const Panel *panel, int v, Place p,
                        int rows, int side_by_side) {
    SIZES;
    const int width = side_by_side ? 2 * LANES : LANES;
    const long row = SW * DY.block;
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    Spot at = spot(&DX, v, p, 1, side_by_side);
    Tile t = panel->first ? (Tile){0} : tile_load(dx, at, e);
    for (int block = 0; block < panel->blocks; block++) {
        const real *a = dy + block * DY.plane, *w = panel->weights + block * DY.block * width;
        Numbers pixels = {a, side_by_side ? a : a + ROWS * row, row, 1};
        Weights weights = {w, side_by_side ? w + LANES : w, width, LANES};
        tile_multiply(&t, DY.block, pixels, weights, e);
    }
    if (MASK && panel->last)
        t = tile_mask(t, tile_load(m, spot(&M, v, p, 1, side_by_side), e));
    tile_store(dx, at, t, e);
}

/* What the panel's blocks, from `block` on of dy, add through its tap to the rows [from, to) of the batch.
 */
INLINE void KERNEL_panel(real *dx, const real *dy, const real *m, int block, const Panel *panel,
                         const int *tap, int v, int from, int to, int side_by_side) {
    SIZES;
    const int rows = tile_rows(side_by_side);
    for (int r = from; r < to; r++) {
        Place p = {r / (ID * IH), r / IH % ID, r % IH, 0};
        Place o = {p.n, p.d * SD - PD + tap[0] * LD, p.h * SH - PH + tap[1] * LH, tap[2] * LW - PW};
        const real *first = dy + point(&DY, block, o);
        for (; p.w + rows <= IW; p.w += rows)
            KERNEL_tile(dx, first + p.w * (SW * DY.block), m, panel, v, p, rows, side_by_side);
        if (IW % rows)
            KERNEL_tile(dx, first + p.w * (SW * DY.block), m, panel, v, p, IW % rows, side_by_side);
    }
}

/* Vectors v and, side by side, v + 1 of the rows [from, to) of the batch. */
INLINE void KERNEL_strip(real *dx, const real *dy, const real *w, const real *m, int v, int from, int to,
                         int side_by_side) {
    SIZES;
    const long taps = KD * KH * KW;
    Panel panel;
    for (int block = 0; block < DY.blocks; block += PANEL_BLOCKS)
        for (int k = 0; k < taps; k++) {
            const int co = block * DY.block, tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
            panel.blocks = least(PANEL_BLOCKS, DY.blocks - block);
            panel.first = block == 0 && k == 0;
            panel.last = block + PANEL_BLOCKS >= DY.blocks && k == taps - 1;
            panel_fill(&panel, panel.blocks * DY.block, side_by_side ? 2 * LANES : LANES,
                       w + ((C0 + v * LANES) * (long)CO + co) * taps + k, CO - co, taps, CS - v * LANES,
                       CO * taps);
            KERNEL_panel(dx, dy, m, block, &panel, tap, v, from, to, side_by_side);
        }
}

UNUSED static void KERNEL(int n, real *restrict dx, const real *dy, const real *w, const real *m) {
    SIZES;
    const int rows = n * ID * IH, strip = panel_strip(rows, IW, (vectors(&DX) + 1) / 2);
#pragma omp for collapse(2) schedule(static)
    for (int start = 0; start < rows; start += strip)
        for (int v = 0; v < vectors(&DX); v += 2) {
            const int end = least(start + strip, rows);
            if (v + 1 < vectors(&DX))
                KERNEL_strip(dx, dy, w, m, v, start, end, 1);
            else
                KERNEL_strip(dx, dy, w, m, v, start, end, 0);
        }
}
/* END */
