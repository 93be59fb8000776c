/* upconv_wgrad.c - gradients of a transposed convolution by its weights and its bias.
 *
 * The rows of a tile are input channels, its lanes output channels, and it sums over pixels. The sums of
 * one band of rows of a sample go to a slot of their own in `scratch`; then the slots are added in order,
 * and at last the total over the samples, which lies behind the slots, is brought into PyTorch's order. A
 * slot is [vector of CO][input channel, tap; then the bias][lane]. */
#include "prologue.c"

#define KERNEL upconv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* The point of dy that a tap meets at the first pixel of row r. */
INLINE Point KERNEL_point(Piece piece, int r, const int *tap) {
    SIZES;
    return (Point){piece.n, r / IH * SD - PD + tap[0] * LD, r % IH * SH - PH + tap[1] * LH,
                   piece.left * SW - PW + tap[2] * LW};
}

INLINE void KERNEL_tile(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                        Piece piece, const int *tap, Extent e, Spot at, int v, int channel,
                        int side_by_side) {
    SIZES;
    Tile t = piece.fresh ? (Tile){0} : tile_load(1, slot, at, e);
    for (int r = piece.from; r < piece.to; r++) {
        const int row = r - piece.from;
        Point i = {piece.n, r / IH, r % IH, piece.left};
        const real *a =
            scalars_at(x + offset_of(from, channel / block, i), piece.x + row * piece.width * block);
        a += channel % block;
        Scalars channels = {a, side_by_side ? a : a + ROWS, 1, block};
        Weights gradients =
            gradients_at(dy, piece, row, &DY, v, KERNEL_point(piece, r, tap), SW, side_by_side);
        tile_multiply(&t, piece.width, channels, gradients, e);
    }
    tile_store(1, slot, at, t, e);
}

/* One block of channels of the input: those from `channel` on of the segment, `before` on of all. */
INLINE void KERNEL_block(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                         Piece piece, int v, int channel, int before, int side_by_side) {
    SIZES;
    const int taps = KD * KH * KW;
    /* a constant, also if the block is not */
    const int rows = block == BLOCK ? tile_rows(side_by_side) : SEGMENTS == 1 ? block : 1;
    const long depth = stored_channels(X, SEGMENTS) * taps + BIAS, row = taps * LANES;
    for (int k = 0; k < taps; k++) {
        const int tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
        for (int r = piece.from; SIXTEEN_BITS && r < piece.to; r++)
            copy_gradients(dy, piece, r - piece.from, &DY, v, KERNEL_point(piece, r, tap), SW,
                           side_by_side);
        for (int c = 0; c < block; c += rows) {
            Spot at = {(v * depth + (before + c) * taps + k) * LANES, 0, row};
            at.b = at.a + (side_by_side ? depth * LANES : ROWS * row);
            if (c + rows <= block)
                KERNEL_tile(slot, x, dy, from, block, piece, tap, extent(rows, side_by_side, LANES), at, v,
                            channel + c, side_by_side);
            else
                KERNEL_tile(slot, x, dy, from, block, piece, tap, extent(block % rows, side_by_side, LANES),
                            at, v, channel + c, side_by_side);
        }
    }
}

/* A band piece by piece, each small enough to stay in the cache for all taps. */
INLINE void KERNEL_band(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before, int side_by_side) {
    SIZES;
    enum { PIXELS = 128, STRIP = (PIXELS - 1) / IW + 1, WIDTH = IW < PIXELS ? IW : PIXELS };
    _Alignas(64) real x_copy[SIXTEEN_BITS ? STRIP * WIDTH * BLOCK : 1];
    _Alignas(64) real dy_copy[SIXTEEN_BITS ? STRIP * WIDTH * 2 * LANES : 1];
    const int start = band_start(ID * IH, BANDS, band), end = band_start(ID * IH, BANDS, band + 1);
    for (int r = start; r < end; r += STRIP)
        for (int left = 0; left < IW; left += PIXELS) {
            const int to = min_int(r + STRIP, end), fresh = r == start && left == 0;
            Piece piece = {n, r, to, left, min_int(PIXELS, IW - left), fresh, x_copy, dy_copy};
            for (int q = r; SIXTEEN_BITS && q < to; q++)
                scalars(x + offset_of(from, channel / block, (Point){n, q / IH, q % IH, left}),
                        x_copy + (q - r) * piece.width * block, piece.width * block);
            KERNEL_block(slot, x, dy, from, block, piece, v, channel, before, side_by_side);
        }
}

INLINE void KERNEL_item(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before) {
    SIZES;
    if (v + 1 < vectors(&DY))
        KERNEL_band(slot, x, dy, from, block, n, band, v, channel, before, 1);
    else
        KERNEL_band(slot, x, dy, from, block, n, band, v, channel, before, 0);
}

/* The slots of all bands of sample i. */
INLINE void KERNEL_sample(real *slots, long elements, const stored *const *x, const stored *dy, int i) {
    SIZES;
    const long depth = stored_channels(X, SEGMENTS) * (KD * KH * KW) + BIAS;
    for (int s = 0, before = 0; s < SEGMENTS; before += X[s].blocks * X[s].block, s++) {
        const Layout *in = segment(X, SEGMENTS, s);
#pragma omp for collapse(3) schedule(static) nowait
        for (int band = 0; band < BANDS; band++)
            for (int block = 0; block < in->blocks; block++)
                for (int v = 0; v < vectors(&DY); v += 2) {
                    real *slot = slots + band * elements;
                    int c = block * in->block;
                    if (in->block == BLOCK) /* a constant, which in->block need not be */
                        KERNEL_item(slot, x[s], dy, in, BLOCK, i, band, v, c, before + c);
                    else
                        KERNEL_item(slot, x[s], dy, in, in->block, i, band, v, c, before + c);
                }
    }
#pragma omp for collapse(2) schedule(static)
    for (int band = 0; band < BANDS; band++)
        for (int v = 0; v < BIAS * vectors(&DY); v++) {
            int from = band_start(D * H, BANDS, band), to = band_start(D * H, BANDS, band + 1);
            store_real(slots + band * elements + ((v + 1) * depth - 1) * LANES,
                       rows_sum(dy, &DY, i, v, from, to, H, W));
        }
}

UNUSED static void KERNEL(int n, real *restrict dw, real *restrict db, real *restrict scratch,
                          const stored *const *x, const stored *dy) {
    SIZES;
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps + BIAS;
    const long elements = vectors(&DY) * depth * LANES;
    real *total = scratch + BANDS * elements;
    if (ACCUMULATE)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, taps, CO * taps);
    for (int i = 0; i < n; i++) {
        KERNEL_sample(scratch, elements, x, dy, i);
        bands_reduce(total, scratch, BANDS, elements, !ACCUMULATE && i == 0);
    }
    weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, taps, CO * taps);
}
/* END */
