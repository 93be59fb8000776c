/* simple_denoiser_conv_wgrad.c - gradients of a convolution by its weights and its bias.
 *
 * The rows of a tile are input channels, its lanes output channels, and it sums over pixels. The sums of
 * one band of rows of a sample go to a slot of their own in `scratch`; then the slots are added in order,
 * and at last the total over the samples, which lies behind the slots, is brought into PyTorch's order. A
 * slot is [vector of CO][input channel, tap; then the bias][lane].
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
/* Pixels of a row of x that a row of taps meets. */
INLINE int KERNEL(_met)(int width) {
    SIZES;
    return (width - 1) * SW + (KW - 1) * LW + 1;
}

/* The first that a tap meets in row r. */
INLINE Point KERNEL(_point)(Piece piece, int r, const int *tap) {
    SIZES;
    return (Point){piece.n, r / H * SD - PD + tap[0] * LD, r % H * SH - PH + tap[1] * LH,
                   piece.left * SW - PW + tap[2] * LW};
}

INLINE void KERNEL(_tile)(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                        Piece piece, const int *tap, Extent e, Spot at, int v, int channel,
                        int side_by_side) {
    SIZES;
    Tile t = piece.fresh ? (Tile){0} : tile_load(1, slot, at, e);
    for (int r = piece.from; r < piece.to; r++) {
        const int row = r - piece.from;
        const real *copy = piece.x + (row * KERNEL(_met)(piece.width) + tap[2] * LW) * block;
        const real *a = scalars_at(x + offset_of(from, channel / block, KERNEL(_point)(piece, r, tap)), copy);
        a += channel % block;
        Scalars channels = {a, side_by_side ? a : a + ROWS, 1, SW * block};
        Weights gradients = gradients_at(dy, piece, row, &DY, v, (Point){piece.n, r / H, r % H, piece.left},
                                         1, side_by_side);
        tile_multiply(&t, piece.width, channels, gradients, e);
    }
    tile_store(1, slot, at, t, e);
}

/* One block of channels of the input: those from `channel` on of the segment, `before` on of all. */
INLINE void KERNEL(_block)(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                         Piece piece, int v, int channel, int before, int side_by_side) {
    SIZES;
    const int taps = KD * KH * KW;
    /* a constant, also if the block is not */
    const int rows = block == BLOCK ? tile_rows(side_by_side) : SEGMENTS == 1 ? block : 1;
    const long depth = stored_channels(X, SEGMENTS) * taps + BIAS, row = taps * LANES;
    for (int k = 0; k < taps; k++) {
        const int tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
        for (int r = piece.from; tap[2] == 0 && SIXTEEN_BITS && r < piece.to; r++)
            scalars(x + offset_of(from, channel / block, KERNEL(_point)(piece, r, tap)),
                    piece.x + (r - piece.from) * KERNEL(_met)(piece.width) * block,
                    KERNEL(_met)(piece.width) * block);
        for (int c = 0; c < block; c += rows) {
            Spot at = {(v * depth + (before + c) * taps + k) * LANES, 0, row};
            at.b = at.a + (side_by_side ? depth * LANES : ROWS * row);
            if (c + rows <= block)
                KERNEL(_tile)(slot, x, dy, from, block, piece, tap, extent(rows, side_by_side, LANES), at, v,
                            channel + c, side_by_side);
            else
                KERNEL(_tile)(slot, x, dy, from, block, piece, tap, extent(block % rows, side_by_side, LANES),
                            at, v, channel + c, side_by_side);
        }
    }
}

/* A band piece by piece, each small enough to stay in the cache for all taps. */
INLINE void KERNEL(_band)(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before, int side_by_side) {
    SIZES;
    enum { PIXELS = 128, STRIP = (PIXELS - 1) / W + 1, WIDTH = W < PIXELS ? W : PIXELS };
    enum { MET = (WIDTH - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real x_copy[SIXTEEN_BITS ? STRIP * MET * BLOCK : 1];
    _Alignas(64) real dy_copy[SIXTEEN_BITS ? STRIP * WIDTH * 2 * LANES : 1];
    const int start = band_start(D * H, BANDS, band), end = band_start(D * H, BANDS, band + 1);
    for (int r = start; r < end; r += STRIP)
        for (int left = 0; left < W; left += PIXELS) {
            const int to = min_int(r + STRIP, end), fresh = r == start && left == 0;
            Piece piece = {n, r, to, left, min_int(PIXELS, W - left), fresh, x_copy, dy_copy};
            for (int q = r; SIXTEEN_BITS && q < to; q++)
                copy_gradients(dy, piece, q - r, &DY, v, (Point){n, q / H, q % H, left}, 1, side_by_side);
            KERNEL(_block)(slot, x, dy, from, block, piece, v, channel, before, side_by_side);
        }
}

INLINE void KERNEL(_item)(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before) {
    SIZES;
    if (v + 1 < vectors(&DY))
        KERNEL(_band)(slot, x, dy, from, block, n, band, v, channel, before, 1);
    else
        KERNEL(_band)(slot, x, dy, from, block, n, band, v, channel, before, 0);
}

/* The slots of all bands of sample i. */
INLINE void KERNEL(_sample)(real *slots, long elements, const stored *const *x, const stored *dy, int i) {
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
                        KERNEL(_item)(slot, x[s], dy, in, BLOCK, i, band, v, c, before + c);
                    else
                        KERNEL(_item)(slot, x[s], dy, in, in->block, i, band, v, c, before + c);
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

void KERNEL()(int n, real *restrict dw, real *restrict db, real *restrict scratch,
                          const stored *const *x, const stored *dy) {
    SIZES;
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps + BIAS;
    const long elements = vectors(&DY) * depth * LANES;
    real *total = scratch + BANDS * elements;
    if (ACCUMULATE)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, CI * taps, taps);
    for (int i = 0; i < n; i++) {
        KERNEL(_sample)(scratch, elements, x, dy, i);
        bands_reduce(total, scratch, BANDS, elements, !ACCUMULATE && i == 0);
    }
    weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, CI * taps, taps);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv_wgrad: net.6 of train: net.5[n,64,64,64] d net.6[n,3,64,64] -> d net.6.weight[3,64,3,3]
    d net.6.bias[3] net.6 scratch[156944] */
#define KERNEL(part) simple_denoiser_conv_wgrad_0##part
#define SIZES \
    enum { CI = 64, CO = 3, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, \
        PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, BIAS = 1, BANDS = 16, ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}}, \
        DY = {3, 3, 1, 201, 13072, 13068, 13068, 198}
#include "simple_denoiser_conv_wgrad.c"

/* conv_wgrad: net.4 of train, net.2 of train: net.3[n,64,64,64] d net.4[n,64,64,64]
    -> d net.4.weight[64,64,3,3] d net.4.bias[64] net.4 scratch[332352] */
#define KERNEL(part) simple_denoiser_conv_wgrad_1##part
#define SIZES \
    enum { CI = 64, CO = 64, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, \
        PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, BIAS = 1, BANDS = 8, ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056}
#include "simple_denoiser_conv_wgrad.c"

/* conv_wgrad: net.0 of train: noisy[n,3,64,64] d net.0[n,64,64,64] -> d net.0.weight[64,3,3,3]
    d net.0.bias[64] net.0 scratch[59136] */
#define KERNEL(part) simple_denoiser_conv_wgrad_2##part
#define SIZES \
    enum { CI = 3, CO = 64, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, \
        PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, BIAS = 1, BANDS = 32, ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}}, \
        DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024}
#include "simple_denoiser_conv_wgrad.c"
#endif
