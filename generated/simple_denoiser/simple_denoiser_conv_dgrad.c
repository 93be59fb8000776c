/* simple_denoiser_conv_dgrad.c - gradient of a convolution by one segment of its input.
 *
 * Point p of the input meets the points (p + P - k * L) / S of the output, where that is whole. Points of a
 * row that are SW apart have the same taps and lie one apart in dy, so a tile takes every SW-th pixel.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
/* Every SW-th point of a row, from number `j` of the phase on. */
INLINE void KERNEL(_tile)(const simple_denoiser_conv_dgrad_sizes *sizes, stored *dx, Spot to, const stored *dy, const real *w, const stored *m, Spot mask,
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
NOINLINE void KERNEL(_pair)(const simple_denoiser_conv_dgrad_sizes *sizes, stored *dx, const stored *dy, const real *w, const stored *m, int v, Point p) {
    SIZES;
    _Static_assert(TILED % (2 * ROWS) == 0, "all tiles end where TILED points do");
    const Spot to = spot(&DX, v, p, SW, 1), mask = spot(&M, v, p, SW, 1);
    for (int column = 0; column < SW; column++) {
        const Phase phase = phase_of(column, (Taps){KW, SW, LW}, PW);
        int j = 0;
        for (; j + ROWS <= IW / SW; j += ROWS)
            KERNEL(_tile)(sizes, dx, to, dy, w, m, mask, p, phase, j, ROWS, 1);
        if (LEFT_OVER(IW_PHASE_OVER, ROWS) > 0)
            KERNEL(_tile)(sizes, dx, to, dy, w, m, mask, p, phase, j, LEFT_OVER(IW_PHASE_OVER, ROWS), 1);
        if (IW_MORE > 0 && column < IW_MORE) /* this phase has one point more */
            KERNEL(_tile)(sizes, dx, to, dy, w, m, mask, p, phase, IW / SW, 1, 1);
    }
}

NOINLINE void KERNEL(_single)(const simple_denoiser_conv_dgrad_sizes *sizes, stored *dx, const stored *dy, const real *w, const stored *m, int v, Point p) {
    SIZES;
    const Spot to = spot(&DX, v, p, SW, 0), mask = spot(&M, v, p, SW, 0);
    for (int column = 0; column < SW; column++) {
        const Phase phase = phase_of(column, (Taps){KW, SW, LW}, PW);
        int j = 0;
        for (; j + 2 * ROWS <= IW / SW; j += 2 * ROWS)
            KERNEL(_tile)(sizes, dx, to, dy, w, m, mask, p, phase, j, 2 * ROWS, 0);
        if (LEFT_OVER(IW_PHASE_OVER, 2 * ROWS) > 0)
            KERNEL(_tile)(sizes, dx, to, dy, w, m, mask, p, phase, j, LEFT_OVER(IW_PHASE_OVER, 2 * ROWS), 0);
        if (IW_MORE > 0 && column < IW_MORE)
            KERNEL(_tile)(sizes, dx, to, dy, w, m, mask, p, phase, IW / SW, 1, 0);
    }
}

void KERNEL()(const simple_denoiser_conv_dgrad_sizes *sizes, int n, Rows rows, stored *restrict dx, const stored *dy, const real *w,
                          const stored *m) {
    SIZES;
    const int strip_rows = 127 / IW + 1;
    const long depth = (long)stored_channels(&DY, 1) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = rows.begin; strip < rows.end; strip += strip_rows)
            for (int v = 0; v < vectors(&DX); v += 2)
                for (int r = strip; r < min_int(strip + strip_rows, rows.end); r++) {
                    Point p = {i, r / IH, r % IH, 0};
                    if (HAS_PAIR(CS_LIKE, &DX, v))
                        KERNEL(_pair)(sizes, dx, dy, w + v * LANES * depth, m, v, p);
                    else
                        KERNEL(_single)(sizes, dx, dy, w + v * LANES * depth, m, v, p);
                }
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv_dgrad with simple_denoiser_conv_dgrad_sizes_0 */
#define KERNEL(part) simple_denoiser_conv_dgrad_0##part
#define SIZES \
    enum { KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, \
        IW_PHASE_OVER = 16, IW_MORE = 0, TILED = 48, CS_LIKE = 32, MASK = 1 }; \
    UNUSED const int IH = sizes->IH, IW = sizes->IW; \
    UNUSED const Layout DX = LAYOUT_OF(sizes->DX, 16, sizes->DX.ring), \
        DY = LAYOUT_OF(sizes->DY, 3, sizes->DY.ring), M = LAYOUT_OF(sizes->M, 16, sizes->M.ring)
#include "simple_denoiser_conv_dgrad.c"

#endif
