/* upconv.c - transposed convolution over segments, with bias and ReLU.
 *
 * Point o of the output meets the points (o + P - k * L) / S of the input, if that is whole.  A tile takes
 * every SW-th pixel of a row, as a tile of conv_dgrad.c does. */
#include "matrix.c"

#define KERNEL upconv
#define AT_RUN_TIME RING, SEGMENTS, RELU, CO, H, W
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Every SW-th point of a row, from number `j` of the phase on. */
INLINE void KERNEL_tile(stored *y, Spot to, const stored *const *x, const real *w, Start start, Point o,
                        Phase phase, int j, int rows, int side_by_side) {
    SIZES;
    enum { MET = 2 * ROWS + (KW - 1) * LW / SW }; /* pixels that a tile meets, at most */
    _Alignas(64) real copy[SIXTEEN_BITS ? MET * BLOCK : 1];
    const int width = side_by_side ? 2 * LANES : LANES;
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Tile t = tile_start(start);
    const int segments = SINGLE ? 1 : SEGMENTS;
    for (int s = 0; s < segments; s++) {
        const Layout *in = segment(X, segments, s);
        const int block = SINGLE ? X[0].block : in->block; /* a constant, which in->block need not be */
        const stored *plane = x[s] + offset_of(in, 0, (Point){o.n, 0, 0, phase.at + j});
        for (int left = in->blocks; left > 0; left--, plane += in->plane)
            for (int kd = 0; kd < KD; kd++)
                for (int kh = 0; kh < KH; kh++, w += KW * slots(block) * width) {
                    const int d = o.d + PD - kd * LD, h = o.h + PH - kh * LH;
                    if (d % SD != 0 || h % SH != 0)
                        continue;
                    const stored *from = plane + d / SD * in->depth + place_of_row(in, h / SH) * in->row;
                    prefetch(from + rows * block, rows * block);
                    if (SINGLE || block == BLOCK)
                        tile_unslide(&t, from, copy, w, SINGLE ? block : BLOCK, phase, side_by_side, e);
                    else
                        tile_unslide(&t, from, copy, w, block, phase, side_by_side, e);
                }
    }
    if (RELU)
        t = tile_relu(t);
    tile_store(0, y, spot_behind(to, &Y, phase.column + j * SW), t, e);
}

/* Functions of their own have the registers to themselves, whatever loops lie around them.  Both know how
 * many rows a tile has, as in conv.c. */
NOINLINE_TILES void KERNEL_pair(stored *y, const stored *const *x, const real *w, const real *b, int v,
                                Point o) {
    SIZES;
    _Static_assert(TILED % (2 * ROWS) == 0, "all tiles end where TILED points do");
    const Start start = start_of(b, CO, v, 1);
    const Spot to = spot(&Y, v, o, SW, 1);
    for (int column = 0; column < SW; column++) {
        const Phase phase = phase_of(column, (Taps){KW, SW, LW}, PW);
        int j = 0;
        for (; j + ROWS <= W / SW; j += ROWS)
            KERNEL_tile(y, to, x, w, start, o, phase, j, ROWS, 1);
        if (LEFT_OVER(W_PHASE_OVER, ROWS) > 0)
            KERNEL_tile(y, to, x, w, start, o, phase, j, LEFT_OVER(W_PHASE_OVER, ROWS), 1);
        if (W_MORE > 0 && column < W_MORE) /* this phase has one point more */
            KERNEL_tile(y, to, x, w, start, o, phase, W / SW, 1, 1);
    }
}

NOINLINE_TILES void KERNEL_single(stored *y, const stored *const *x, const real *w, const real *b, int v,
                                  Point o) {
    SIZES;
    const Start start = start_of(b, CO, v, 0);
    const Spot to = spot(&Y, v, o, SW, 0);
    for (int column = 0; column < SW; column++) {
        const Phase phase = phase_of(column, (Taps){KW, SW, LW}, PW);
        int j = 0;
        for (; j + 2 * ROWS <= W / SW; j += 2 * ROWS)
            KERNEL_tile(y, to, x, w, start, o, phase, j, 2 * ROWS, 0);
        if (LEFT_OVER(W_PHASE_OVER, 2 * ROWS) > 0)
            KERNEL_tile(y, to, x, w, start, o, phase, j, LEFT_OVER(W_PHASE_OVER, 2 * ROWS), 0);
        if (W_MORE > 0 && column < W_MORE)
            KERNEL_tile(y, to, x, w, start, o, phase, W / SW, 1, 0);
    }
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *const *x, const real *w,
                          const real *b) {
    SIZES;
    const int strip_rows = 127 / W + 1;
    const long depth = (long)stored_channels(X, SEGMENTS) * (KD * KH * KW);
#ifdef MATRICES
    const Convolution c = {.x = X,
                           .y = &Y,
                           .from = x,
                           .to = y,
                           .w = w,
                           .b = b,
                           .relu = RELU,
                           .outputs = CO,
                           .segments = SEGMENTS,
                           .points = {D, H, W},
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
            for (int v = 0; v < vectors(&Y); v += 2)
                for (int r = strip; r < min_int(strip + strip_rows, rows.end); r++) {
                    Point o = {i, r / H, r % H, 0};
                    if (HAS_PAIR(CO_LIKE, &Y, v))
                        KERNEL_pair(y, x, w + v * LANES * depth, b, v, o);
                    else
                        KERNEL_single(y, x, w + v * LANES * depth, b, v, o);
                }
}
/* END */
