/* upconv_dgrad.c - gradient of a transposed convolution by one segment of its input: a convolution of dy
 * with the stride of the forward operator. The weights are dense; see upconv.c for panels and strips. */
#include "prologue.c"

#define KERNEL upconv_dgrad
#include "../example.h"

/* BEGIN */
INLINE void KERNEL_tile(real *dx, const real *dy, const real *panel, int v, Place p, int rows,
                        int side_by_side) {
    SIZES;
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    const long row = SW * DY.block;
    Numbers pixels = {dy, side_by_side ? dy : dy + ROWS * row, row, 1};
    Weights weights = {panel, side_by_side ? panel + LANES : panel, side_by_side ? 2 * LANES : LANES,
                       LANES};
    Spot at = spot(&DX, v, p, 1, side_by_side);
    Tile t = tile_load(dx, at, e);
    tile_multiply(&t, DY.block, pixels, weights, e);
    tile_store(dx, at, t, e);
}

/* What one channel block of dy adds through one tap to the rows [from, to) of the batch. */
INLINE void KERNEL_panel(real *dx, const real *dy, int block, const real *panel, const int *tap, int v,
                         int from, int to, int side_by_side) {
    SIZES;
    const int rows = tile_rows(side_by_side);
    for (int r = from; r < to; r++) {
        Place p = {r / (ID * IH), r / IH % ID, r % IH, 0};
        Place o = {p.n, p.d * SD - PD + tap[0] * LD, p.h * SH - PH + tap[1] * LH, tap[2] * LW - PW};
        const real *first = dy + point(&DY, block, o);
        for (; p.w + rows <= IW; p.w += rows)
            KERNEL_tile(dx, first + p.w * (SW * DY.block), panel, v, p, rows, side_by_side);
        if (IW % rows)
            KERNEL_tile(dx, first + p.w * (SW * DY.block), panel, v, p, IW % rows, side_by_side);
    }
}

/* Vectors v and, side by side, v + 1 of the rows [from, to) of the batch. */
INLINE void KERNEL_strip(real *dx, const real *dy, const real *w, int v, int from, int to,
                         int side_by_side) {
    SIZES;
    const long taps = KD * KH * KW;
    const int width = side_by_side ? 2 * LANES : LANES;
    real panel[BLOCK * 2 * LANES];
    for (int block = 0; block < DY.blocks; block++)
        for (int k = 0; k < taps; k++) {
            const int co = block * DY.block, tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
            panel_fill(panel, DY.block, width, w + ((C0 + v * LANES) * (long)CO + co) * taps + k, CO - co,
                       taps, CS - v * LANES, CO * taps);
            KERNEL_panel(dx, dy, block, panel, tap, v, from, to, side_by_side);
        }
}

/* The value before the first panel, and the mask after the last, of one row. */
INLINE void KERNEL_zero(real *dx, int r, int v) {
    SIZES;
    for (Place p = {r / (ID * IH), r / IH % ID, r % IH, 0}; p.w < IW; p.w++)
        store_some(dx + vector_at(&DX, v, p), (Vector){0}, lanes(&DX, v));
}

INLINE void KERNEL_mask(real *dx, const real *m, int r, int v) {
    SIZES;
    for (Place p = {r / (ID * IH), r / IH % ID, r % IH, 0}; p.w < IW; p.w++) {
        real *at = dx + vector_at(&DX, v, p);
        Vector by = load_some(m + vector_at(&M, v, p), lanes(&M, v));
        store_some(at, vector_mask(load_some(at, lanes(&DX, v)), by), lanes(&DX, v));
    }
}

UNUSED static void KERNEL(int n, real *restrict dx, const real *dy, const real *w, const real *m) {
    SIZES;
    const int rows = n * ID * IH, strip = panel_strip(rows, IW, (vectors(&DX) + 1) / 2);
#pragma omp for collapse(2) schedule(static)
    for (int start = 0; start < rows; start += strip)
        for (int v = 0; v < vectors(&DX); v += 2) {
            const int end = least(start + strip, rows), last = least(v + 2, vectors(&DX));
            for (int r = start; r < end; r++)
                for (int u = v; u < last; u++)
                    KERNEL_zero(dx, r, u);
            if (v + 1 < last)
                KERNEL_strip(dx, dy, w, v, start, end, 1);
            else
                KERNEL_strip(dx, dy, w, v, start, end, 0);
            for (int r = start; MASK && r < end; r++)
                for (int u = v; u < last; u++)
                    KERNEL_mask(dx, m, r, u);
        }
}
/* END */
