/* conv_dgrad.c - gradient of a convolution by one segment of its input.
 *
 * Point p of the input meets the points (p + P - k * L) / S of the output, where that is whole. Points of a
 * row that are SW apart have the same taps and lie one apart in dy, so a tile takes every SW-th pixel. */
#include "matrix.c"

#define KERNEL conv_dgrad
#define AT_RUN_TIME RING, IH, IW
#include "../example.h"

/* BEGIN */
/* Every SW-th point of a row, from number `j` of the phase on. */
INLINE void KERNEL_tile(stored *dx, Spot to, const stored *dy, const real *w, const stored *m, Spot mask,
                        Point p, Phase phase, int j, int rows, int side_by_side) {
    SIZES;
    enum { MET = 2 * ROWS + (KW - 1) * LW / SW }; /* pixels that a tile meets, at most */
    _Alignas(64) real copy[SIXTEEN_BITS ? MET * BLOCK : 1];
    const int width = side_by_side ? 2 * LANES : LANES;
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    Tile t = {0};
    const stored *plane = dy + offset_of(&DY, 0, (Point){p.n, 0, 0, phase.at + j});
    for (int left = DY.blocks; left > 0; left--, plane += DY.plane)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++, w += KW * slots(DY.block) * width) {
                const int d = p.d + PD - kd * LD, h = p.h + PH - kh * LH;
                if (d % SD != 0 || h % SH != 0)
                    continue;
                tile_unslide(&t, plane + d / SD * DY.depth + place_of_row(&DY, h / SH) * DY.row, copy, w,
                             DY.block, phase, side_by_side, e);
            }
    if (MASK)
        t = tile_mask(t, tile_load(0, m, spot_behind(mask, &M, phase.column + j * SW), e));
    tile_store(0, dx, spot_behind(to, &DX, phase.column + j * SW), t, e);
}

/* Functions of their own have the registers to themselves, whatever loops lie around them.  Both know how
 * many rows a tile has, as in conv.c. */
NOINLINE void KERNEL_pair(stored *dx, const stored *dy, const real *w, const stored *m, int v, Point p) {
    SIZES;
    _Static_assert(TILED % (2 * ROWS) == 0, "all tiles end where TILED points do");
    const Spot to = spot(&DX, v, p, SW, 1), mask = spot(&M, v, p, SW, 1);
    for (int column = 0; column < SW; column++) {
        const Phase phase = phase_of(column, (Taps){KW, SW, LW}, PW);
        int j = 0;
        for (; j + ROWS <= IW / SW; j += ROWS)
            KERNEL_tile(dx, to, dy, w, m, mask, p, phase, j, ROWS, 1);
        if (LEFT_OVER(IW_PHASE_OVER, ROWS) > 0)
            KERNEL_tile(dx, to, dy, w, m, mask, p, phase, j, LEFT_OVER(IW_PHASE_OVER, ROWS), 1);
        if (IW_MORE > 0 && column < IW_MORE) /* this phase has one point more */
            KERNEL_tile(dx, to, dy, w, m, mask, p, phase, IW / SW, 1, 1);
    }
}

NOINLINE void KERNEL_single(stored *dx, const stored *dy, const real *w, const stored *m, int v, Point p) {
    SIZES;
    const Spot to = spot(&DX, v, p, SW, 0), mask = spot(&M, v, p, SW, 0);
    for (int column = 0; column < SW; column++) {
        const Phase phase = phase_of(column, (Taps){KW, SW, LW}, PW);
        int j = 0;
        for (; j + 2 * ROWS <= IW / SW; j += 2 * ROWS)
            KERNEL_tile(dx, to, dy, w, m, mask, p, phase, j, 2 * ROWS, 0);
        if (LEFT_OVER(IW_PHASE_OVER, 2 * ROWS) > 0)
            KERNEL_tile(dx, to, dy, w, m, mask, p, phase, j, LEFT_OVER(IW_PHASE_OVER, 2 * ROWS), 0);
        if (IW_MORE > 0 && column < IW_MORE)
            KERNEL_tile(dx, to, dy, w, m, mask, p, phase, IW / SW, 1, 0);
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *dy, const real *w,
                          const stored *m) {
    SIZES;
    const int strip_rows = 127 / IW + 1;
    const long depth = (long)stored_channels(&DY, 1) * (KD * KH * KW);
#ifdef MATRICES
    const Convolution c = {.x = &DY,
                           .y = &DX,
                           .m = MASK ? &M : NULL,
                           .mask = m,
                           .from = &dy,
                           .to = dx,
                           .w = w,
                           .segments = 1,
                           .points = {ID, IH, IW},
                           .taps = {KD, KH, KW},
                           .stride = {SD, SH, SW},
                           .dilation = {LD, LH, LW},
                           .padding = {PD, PH, PW}};
    if (suits_matrices(c.x, c.segments, c.y, taps_of_row(&c))) {
        matrices_unslide(&c, n, rows);
        return;
    }
#endif
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = rows.begin; strip < rows.end; strip += strip_rows)
            for (int v = 0; v < vectors(&DX); v += 2)
                for (int r = strip; r < min_int(strip + strip_rows, rows.end); r++) {
                    Point p = {i, r / IH, r % IH, 0};
                    if (HAS_PAIR(CS_LIKE, &DX, v))
                        KERNEL_pair(dx, dy, w + v * LANES * depth, m, v, p);
                    else
                        KERNEL_single(dx, dy, w + v * LANES * depth, m, v, p);
                }
}
/* END */
