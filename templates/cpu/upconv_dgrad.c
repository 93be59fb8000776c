/* upconv_dgrad.c - gradient of a transposed convolution by one segment of its input: a convolution of dy
 * with the stride of the forward operator. See conv.c. */
#include "matrix.c"

#define KERNEL upconv_dgrad
#define AT_RUN_TIME RING, IW, IH
#include "../example.h"

/* BEGIN */
INLINE void KERNEL_tile(stored *dx, Spot to, const stored *dy, const real *w, const stored *m, Spot mask,
                        Point p, int rows, int side_by_side) {
    SIZES;
    enum { MET = (2 * ROWS - 1) * SW + (KW - 1) * LW + 1 }; /* pixels that a tile meets, at most */
    _Alignas(64) real copy[SIXTEEN_BITS ? MET * BLOCK : 1];
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    const Taps taps = {KW, SW, LW};
    Tile t = {0};
    const stored *plane = dy + offset_of(&DY, 0, (Point){p.n, p.d * SD - PD, 0, p.w * SW - PW});
    for (int left = DY.blocks; left > 0; left--, plane += DY.plane) {
        const stored *depth = plane;
        for (int kd = 0; kd < KD; kd++, depth += LD * DY.depth)
            for (int kh = 0; kh < KH; kh++) {
                const stored *from = depth + place_of_row(&DY, p.h * SH - PH + kh * LH) * DY.row;
                prefetch(from + rows * SW * DY.block, rows * SW * DY.block);
                tile_slide(&t, from, copy, w, DY.block, taps, side_by_side, e);
                w += slots_of_row(DY.block, taps) * (side_by_side ? 2 * LANES : LANES);
            }
    }
    if (MASK)
        t = tile_mask(t, tile_load(0, m, spot_behind(mask, &M, p.w), e));
    tile_store(0, dx, spot_behind(to, &DX, p.w), t, e);
}

/* Functions of their own have the registers to themselves, whatever loops lie around them.  Both know how
 * many rows a tile has, as in conv.c. */
NOINLINE void KERNEL_pair(stored *dx, const stored *dy, const real *w, const stored *m, int v, Point p) {
    SIZES;
    _Static_assert(TILED % (2 * ROWS) == 0, "all tiles end where TILED points do");
    const Spot to = spot(&DX, v, p, 1, 1), mask = spot(&M, v, p, 1, 1);
    for (; p.w + ROWS <= IW; p.w += ROWS)
        KERNEL_tile(dx, to, dy, w, m, mask, p, ROWS, 1);
    if (LEFT_OVER(IW_OVER, ROWS) > 0)
        KERNEL_tile(dx, to, dy, w, m, mask, p, LEFT_OVER(IW_OVER, ROWS), 1);
}

NOINLINE void KERNEL_single(stored *dx, const stored *dy, const real *w, const stored *m, int v, Point p) {
    SIZES;
    const Spot to = spot(&DX, v, p, 1, 0), mask = spot(&M, v, p, 1, 0);
    for (; p.w + 2 * ROWS <= IW; p.w += 2 * ROWS)
        KERNEL_tile(dx, to, dy, w, m, mask, p, 2 * ROWS, 0);
    if (LEFT_OVER(IW_OVER, 2 * ROWS) > 0)
        KERNEL_tile(dx, to, dy, w, m, mask, p, LEFT_OVER(IW_OVER, 2 * ROWS), 0);
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
        matrices_slide(&c, n, rows);
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
