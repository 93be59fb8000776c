/* simple_denoiser_conv.c - convolution over segments, with bias and ReLU.
 *
 * A tile is a run of pixels of one row by two vectors of channels (or twice the pixels by one); its sums
 * stay in registers while all input channels and taps pass by. A work item is a strip of rows, long enough
 * that its weights, which the first row brings into the cache, are used again.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
INLINE void KERNEL(_tile)(stored *y, const stored *const *x, const real *w, const real *b, int v, Point o,
                        int rows, int side_by_side) {
    SIZES;
    enum { MET = (2 * ROWS - 1) * SW + (KW - 1) * LW + 1 }; /* pixels that a tile meets, at most */
    _Alignas(64) real copy[SIXTEEN_BITS ? MET * BLOCK : 1];
    const Taps taps = {KW, SW, LW};
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Tile t = tile_start(BIAS ? b : NULL, CO, v, side_by_side);
    for (int s = 0; s < SEGMENTS; s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block++)
            for (int kd = 0; kd < KD; kd++)
                for (int kh = 0; kh < KH; kh++) {
                    Point i = {o.n, o.d * SD - PD + kd * LD, o.h * SH - PH + kh * LH, o.w * SW - PW};
                    const stored *from = x[s] + offset_of(in, block, i);
                    if (KD * KH * KW == 1) /* no other tap brings its pixels */
                        prefetch(from + 2 * rows * SW * in->block, rows * SW * in->block);
                    if (SEGMENTS == 1) /* constants, which in->block need not be */
                        tile_slide(&t, from, copy, w, BLOCK_OF(CI), taps, side_by_side, e);
                    else if (in->block == BLOCK)
                        tile_slide(&t, from, copy, w, BLOCK, taps, side_by_side, e);
                    else
                        tile_slide(&t, from, copy, w, in->block, taps, side_by_side, e);
                    w += slots_of_row(in->block, taps) * (side_by_side ? 2 * LANES : LANES);
                }
    }
    tile_store(0, y, spot(&Y, v, o, 1, side_by_side), RELU ? tile_relu(t) : t, e);
}

INLINE void KERNEL(_row)(stored *y, const stored *const *x, const real *w, const real *b, int v, Point o,
                       int side_by_side) {
    SIZES;
    const int rows = tile_rows(side_by_side);
    for (; o.w + rows <= W; o.w += rows)
        KERNEL(_tile)(y, x, w, b, v, o, rows, side_by_side);
    if (LEFT_OVER(W, rows) > 0)
        KERNEL(_tile)(y, x, w, b, v, o, LEFT_OVER(W, rows), side_by_side);
}

/* Functions of their own have the registers to themselves, whatever loops lie around them. */
NOINLINE void KERNEL(_pair)(stored *y, const stored *const *x, const real *w, const real *b, int v, Point o) {
    KERNEL(_row)(y, x, w, b, v, o, 1);
}

NOINLINE void KERNEL(_single)(stored *y, const stored *const *x, const real *w, const real *b, int v,
                            Point o) {
    KERNEL(_row)(y, x, w, b, v, o, 0);
}

void KERNEL()(int n, Rows rows, stored *restrict y, const stored *const *x, const real *w,
                          const real *b) {
    SIZES;
    enum { STRIP = 127 / W + 1 };
    const long depth = (long)stored_channels(X, SEGMENTS) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = rows.begin; strip < rows.end; strip += STRIP)
            for (int v = 0; v < vectors(&Y); v += 2)
                for (int r = strip; r < min_int(strip + STRIP, rows.end); r++) {
                    Point o = {i, r / H, r % H, 0};
                    if (HAS_PAIR(CO, v))
                        KERNEL(_pair)(y, x, w + v * LANES * depth, b, v, o);
                    else
                        KERNEL(_single)(y, x, w + v * LANES * depth, b, v, o);
                }
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv: net.0 of train, net.0 of eval, net.0 of predict: noisy cast[n,3,64,64] net.0 weights[1728]
    net.0.bias[64] -> net.1[n,64,64,64] */
#define KERNEL(part) simple_denoiser_conv_0##part
#define SIZES \
    enum { CI = 3, CO = 64, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, \
        KW = 3, SW = 1, LW = 1, PW = 1, BIAS = 1, RELU = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}}, \
        Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_conv.c"

/* conv: net.6 of train, net.6 of eval, net.6 of predict: net.5[n,64,64,64] net.6 weights[9216] net.6.bias[3]
    -> net.6[n,3,64,64] */
#define KERNEL(part) simple_denoiser_conv_1##part
#define SIZES \
    enum { CI = 64, CO = 3, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, \
        KW = 3, SW = 1, LW = 1, PW = 1, BIAS = 1, RELU = 0, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        Y = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}
#include "simple_denoiser_conv.c"

#endif
