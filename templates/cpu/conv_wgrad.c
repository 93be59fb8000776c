/* conv_wgrad.c - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias.
 *
 * A window slides over x, and its positions are the points of dy; TRANSPOSED, it slides over dy, and they
 * are those of x. The rows of a tile are input channels, its lanes output channels, and it sums over
 * positions. The sums of one band of rows of a sample go to a slot of their own in `scratch`; then the
 * slots are added in order, and at last the total over the samples, which lies behind the slots, is brought
 * into PyTorch's order. A slot is [vector of CO][input channel, tap; then the bias][lane]. */
#include "prologue.c"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* Rows of a slot for each vector of CO. */
INLINE long KERNEL_depth(void) {
    SIZES;
    return (long)stored_channels(X, SEGMENTS) * (KD * KH * KW) + BIAS;
}

/* Pixels of a row of x that a row of taps meets. */
INLINE int KERNEL_met(int width) {
    SIZES;
    return TRANSPOSED ? width : (width - 1) * SW + (KW - 1) * LW + 1;
}

/* The first that tap k meets from row r of positions: where the window slides, else the position itself. */
INLINE Point KERNEL_point(int slides, Item item, Piece piece, int r, int k) {
    SIZES;
    enum { HEIGHT = TRANSPOSED ? IH : H };
    const Point at = {item.n, r / HEIGHT, r % HEIGHT, piece.left};
    return slides ? (Point){at.n, at.d * SD - PD + k / (KH * KW) * LD, at.h * SH - PH + k / KW % KH * LH,
                            at.w * SW - PW + k % KW * LW}
                  : at;
}

/* What it meets of x, from row c of the tile on. */
INLINE Scalars KERNEL_channels(Item item, Piece piece, int r, int k, int c) {
    SIZES;
    enum { STEP = TRANSPOSED ? 1 : SW, TAP = TRANSPOSED ? 0 : LW };
    const Point i = KERNEL_point(!TRANSPOSED, item, piece, r, k);
    const int pixel = (r - piece.from) * KERNEL_met(piece.width) + k % KW * TAP;
    const real *copy = piece.x + pixel * item.block;
    const real *a = scalars_at(item.x + offset_of(item.layout, item.number, i), copy) + c;
    return (Scalars){a, item.side_by_side ? a : a + ROWS, 1, FACTORS * STEP * item.block};
}

/* Elements of dy that are no whole vectors of `real` are copied, so that they are brought together once. */
INLINE int KERNEL_copied(void) {
    SIZES;
    return SIXTEEN_BITS || DY.block < BLOCK;
}

/* What it meets of dy. */
INLINE Weights KERNEL_gradients(Item item, Piece piece, int r, int k) {
    SIZES;
    enum { STEP = TRANSPOSED ? SW : 1 };
    const Point o = KERNEL_point(TRANSPOSED, item, piece, r, k);
    const int width = item.side_by_side ? 2 * LANES : LANES;
    const real *copy = piece.dy + (r - piece.from) * slots(piece.width) * width;
    if (KERNEL_copied())
        return (Weights){copy, item.side_by_side ? copy + LANES : copy, width, LANES};
    const stored *a = item.dy + vector_at(&DY, item.v, o);
    const stored *b = item.side_by_side ? item.dy + vector_at(&DY, item.v + 1, o) : a;
    return (Weights){scalars_at(a, NULL), scalars_at(b, NULL), STEP * DY.block, LANES};
}

/* Copies what row r has of dy: positions, or pairs of them. */
INLINE void KERNEL_copy(Item item, Piece piece, int r, int k) {
    SIZES;
    enum { STEP = TRANSPOSED ? SW : 1 };
    real *copy = piece.dy + (r - piece.from) * slots(piece.width) * (item.side_by_side ? 2 * LANES : LANES);
    Point o = KERNEL_point(TRANSPOSED, item, piece, r, k);
    for (int p = 0; p < piece.width; p += FACTORS, o.w += FACTORS * STEP)
        for (int v = item.v; v <= item.v + item.side_by_side; v++, copy += LANES) {
            const stored *dy = item.dy + vector_at(&DY, v, o);
            const int there = lanes(&DY, v);
            store_real(copy, factors_at(dy, there, dy + STEP * DY.block, p + 1 < piece.width ? there : 0));
        }
}

/* Copies what row r has of x: pixels, or pairs of those of neighbouring positions. */
INLINE void KERNEL_pixels(Item item, Piece piece, int r, int k) {
    SIZES;
    enum { STEP = TRANSPOSED ? 1 : SW };
    const int count = KERNEL_met(piece.width) * item.block, apart = STEP * item.block;
    const stored *x =
        item.x + offset_of(item.layout, item.number, KERNEL_point(!TRANSPOSED, item, piece, r, k));
    real *copy = piece.x + (r - piece.from) * count;
    if (FACTORS == 1)
        scalars(x, copy, count);
    for (int at = 0; FACTORS > 1 && at < count; at += LANES)
        store_real(copy + at, factors_at(x + at, count - at, x + at + apart, count - at - apart));
}

/* Copies what tap k meets, unless it is there: of x all that its row of taps meets; of positions, what all
 * taps meet. */
INLINE void KERNEL_copies(Item item, Piece piece, int k) {
    SIZES;
    for (int r = piece.from; r < piece.to; r++) {
        if (k == 0 || (!TRANSPOSED && k % KW == 0))
            KERNEL_pixels(item, piece, r, k);
        if (k == 0 || TRANSPOSED)
            KERNEL_copy(item, piece, r, k);
    }
}

/* Where the slot has row q of vector v: channel q % block by tap k + q / block. */
INLINE real *KERNEL_row(Item item, int v, int k, int q) {
    SIZES;
    const long channel = item.channel + q % item.block;
    return item.slot + (v * KERNEL_depth() + channel * (KD * KH * KW) + k + q / item.block) * LANES;
}

INLINE void KERNEL_tile(Item item, Piece piece, int k, int c, int rows) {
    SIZES;
    const int v = item.v, side = item.side_by_side, below = side ? 0 : ROWS;
    const Extent e = extent(rows, side, LANES);
    Tile t = {0};
#define LOAD(r)                                                                                            \
    if (e.a > r && !piece.fresh)                                                                           \
        t.a.v##r = load_real(KERNEL_row(item, v, k, c + r));                                               \
    if (e.b > r && !piece.fresh)                                                                           \
        t.b.v##r = load_real(KERNEL_row(item, v + side, k, c + below + r));
#define STORE(r)                                                                                           \
    if (e.a > r)                                                                                           \
        store_real(KERNEL_row(item, v, k, c + r), t.a.v##r);                                               \
    if (e.b > r)                                                                                           \
        store_real(KERNEL_row(item, v + side, k, c + below + r), t.b.v##r);
    EACH_ROW(LOAD)
    for (int r = piece.from; r < piece.to; r++)
        tile_multiply(&t, add_factors, slots(piece.width), KERNEL_channels(item, piece, r, k, c),
                      KERNEL_gradients(item, piece, r, k), e);
    EACH_ROW(STORE)
#undef LOAD
#undef STORE
}

/* Rows of a tile, constants also if the block is not, are channels; of an image, whose pixels lie side by
 * side, those of all pixels that a row of taps meets. */
INLINE void KERNEL_piece(Item item, Piece piece) {
    SIZES;
    const int taps = item.block < BLOCK && LW == 1 && !TRANSPOSED ? KW : 1, all = taps * item.block;
    const int tiles = (all - 1) / tile_rows(item.side_by_side) + 1;
    const int rows = item.block == BLOCK || SEGMENTS == 1 ? (all - 1) / tiles + 1 : 1;
    for (int k = 0; k < KD * KH * KW; k += taps) {
        if (KERNEL_copied())
            KERNEL_copies(item, piece, k);
        for (int c = 0; c < all; c += rows)
            if (c + rows <= all)
                KERNEL_tile(item, piece, k, c, rows);
            else
                KERNEL_tile(item, piece, k, c, all % rows);
    }
}

/* A band piece by piece, each small enough to stay in the cache for all taps. */
INLINE void KERNEL_band(Item item, int band, int block, int side_by_side) {
    SIZES;
    enum { HEIGHT = TRANSPOSED ? ID * IH : D * H, WIDTH = TRANSPOSED ? IW : W };
    enum { PIXELS = 128, STRIP = (PIXELS - 1) / WIDTH + 1, LONGEST = WIDTH < PIXELS ? WIDTH : PIXELS };
    enum { MET = TRANSPOSED ? LONGEST : (LONGEST - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real x[SIXTEEN_BITS ? STRIP * MET * BLOCK : 1];
    _Alignas(64) real dy[STRIP * LONGEST * 2 * LANES];
    const int start = band_start(HEIGHT, BANDS, band), end = band_start(HEIGHT, BANDS, band + 1);
    item.block = block;
    item.side_by_side = side_by_side;
    for (int r = start; r < end; r += STRIP)
        for (int left = 0; left < WIDTH; left += PIXELS) {
            const int to = min_int(r + STRIP, end), fresh = r == start && left == 0;
            KERNEL_piece(item, (Piece){r, to, left, min_int(PIXELS, WIDTH - left), fresh, x, dy});
        }
}

INLINE void KERNEL_item(Item item, int band, int block) {
    SIZES;
    if (item.v + 1 < vectors(&DY))
        KERNEL_band(item, band, block, 1);
    else
        KERNEL_band(item, band, block, 0);
}

/* The slots of all bands of sample i. */
INLINE void KERNEL_sample(real *slots, const stored *const *x, const stored *dy, int i) {
    SIZES;
    const long depth = KERNEL_depth(), elements = vectors(&DY) * depth * LANES;
    for (int s = 0, first = 0; s < SEGMENTS; first += X[s].blocks * X[s].block, s++) {
        const Layout *in = segment(X, SEGMENTS, s);
#pragma omp for collapse(3) schedule(static) nowait
        for (int band = 0; band < BANDS; band++)
            for (int b = 0; b < in->blocks; b++)
                for (int v = 0; v < vectors(&DY); v += 2) {
                    Item item = {.slot = slots + band * elements, .x = x[s], .dy = dy, .layout = in};
                    item.n = i, item.number = b, item.channel = first + b * in->block, item.v = v;
                    if (in->block == BLOCK)
                        KERNEL_item(item, band, BLOCK);
                    else
                        KERNEL_item(item, band, in->block);
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
    const long taps = KD * KH * KW, elements = vectors(&DY) * KERNEL_depth() * LANES;
    const long out = TRANSPOSED ? taps : CI * taps, in = TRANSPOSED ? CO * taps : taps;
    real *total = scratch + BANDS * elements;
    if (ACCUMULATE)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, out, in);
    for (int i = 0; i < n; i++) {
        KERNEL_sample(scratch, x, dy, i);
        bands_reduce(total, scratch, BANDS, elements, !ACCUMULATE && i == 0);
    }
    weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, out, in);
}
/* END */
