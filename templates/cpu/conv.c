/* conv.c - convolution over segments, with bias and ReLU.
 *
 * A tile is a run of pixels of one row by two vectors of channels (or twice the pixels by one); its sums
 * stay in registers while all input channels and taps pass by. A work item is a strip of rows, long enough
 * that its weights, which the first row brings into the cache, are used again. */
#include "matrix.c"

#define KERNEL conv
#define AT_RUN_TIME RING, SEGMENTS, RELU, CO, H, W
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
INLINE void KERNEL_tile(stored *y, Spot to, const stored *const *x, const real *w, Start start, Point o,
                        int rows, int side_by_side) {
    SIZES;
    enum { MET = (2 * ROWS - 1) * SW + (KW - 1) * LW + 1 }; /* pixels that a tile meets, at most */
    _Alignas(64) real copy[SIXTEEN_BITS ? MET * BLOCK : 1];
    const Taps taps = {KW, SW, LW};
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Tile t = tile_start(start);
    const int segments = SINGLE ? 1 : SEGMENTS;
    for (int s = 0; s < segments; s++) {
        const Layout *in = segment(X, segments, s);
        const int block = SINGLE ? X[0].block : in->block; /* a constant, which in->block need not be */
        const stored *plane = x[s] + offset_of(in, 0, (Point){o.n, o.d * SD - PD, 0, o.w * SW - PW});
        for (int left = in->blocks; left > 0; left--, plane += in->plane) {
            const stored *depth = plane;
            for (int kd = 0; kd < KD; kd++, depth += LD * in->depth)
                for (int kh = 0; kh < KH; kh++) {
                    const stored *from = depth + place_of_row(in, o.h * SH - PH + kh * LH) * in->row;
                    if (KW == 1 && KD * KH == 1) /* no other tap brings its pixels */
                        prefetch(from + 2 * rows * SW * block, rows * SW * block);
                    if (SINGLE || block == BLOCK)
                        tile_slide(&t, from, copy, w, SINGLE ? block : BLOCK, taps, side_by_side, e);
                    else
                        tile_slide(&t, from, copy, w, block, taps, side_by_side, e);
                    w += slots_of_row(block, taps) * (side_by_side ? 2 * LANES : LANES);
                }
        }
    }
    if (RELU)
        t = tile_relu(t);
    tile_store(0, y, spot_behind(to, &Y, o.w), t, e);
}

/* Functions of their own have the registers to themselves, whatever loops lie around them.  Both know how
 * many rows a tile has: a function for either way, inlined into both, would be compiled once more by
 * itself. */
NOINLINE_TILES void KERNEL_pair(stored *y, const stored *const *x, const real *w, const real *b, int v,
                                Point o) {
    SIZES;
    _Static_assert(TILED % (2 * ROWS) == 0, "all tiles end where TILED points do");
    const Start start = start_of(b, CO, v, 1);
    const Spot to = spot(&Y, v, o, 1, 1);
    for (; o.w + ROWS <= W; o.w += ROWS)
        KERNEL_tile(y, to, x, w, start, o, ROWS, 1);
    if (LEFT_OVER(W_OVER, ROWS) > 0)
        KERNEL_tile(y, to, x, w, start, o, LEFT_OVER(W_OVER, ROWS), 1);
}

NOINLINE_TILES void KERNEL_single(stored *y, const stored *const *x, const real *w, const real *b, int v,
                                  Point o) {
    SIZES;
    const Start start = start_of(b, CO, v, 0);
    const Spot to = spot(&Y, v, o, 1, 0);
    for (; o.w + 2 * ROWS <= W; o.w += 2 * ROWS)
        KERNEL_tile(y, to, x, w, start, o, 2 * ROWS, 0);
    if (LEFT_OVER(W_OVER, 2 * ROWS) > 0)
        KERNEL_tile(y, to, x, w, start, o, LEFT_OVER(W_OVER, 2 * ROWS), 0);
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
        matrices_slide(&c, n, rows);
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
