/* simple_denoiser_conv_wgrad.c - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias.
 *
 * A window slides over x, and its positions are the points of dy; TRANSPOSED, it slides over dy, and they
 * are those of x. The rows of a tile are input channels, its lanes output channels, and it sums over
 * positions. `scratch` has the sums of a sample, as far as its rows have come, and behind them the total
 * over the samples, which is brought into PyTorch's order in the end: [vector of CO][input channel, tap;
 * then the bias][lane].
 *
 * A sum runs through the rows in order, and is that of one thread: threads share out taps, blocks of x and
 * vectors of dy. So its bits depend neither on the threads nor on which rows a call computes.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
#include <omp.h>

/* Rows of sums for each vector of CO. */
INLINE long KERNEL(_depth)(void) {
    SIZES;
    return (long)stored_channels(X, SEGMENTS) * (KD * KH * KW) + BIAS;
}

/* Pixels of a row of x that a row of taps meets. */
INLINE int KERNEL(_met)(int width) {
    SIZES;
    return TRANSPOSED ? width : (width - 1) * SW + (KW - 1) * LW + 1;
}

/* The first that tap k meets from row r of positions: where the window slides, else the position itself. */
INLINE Point KERNEL(_point)(int slides, Item item, Piece piece, int r, int k) {
    SIZES;
    enum { HEIGHT = TRANSPOSED ? IH : H };
    const Point at = {item.n, r / HEIGHT, r % HEIGHT, piece.left};
    return slides ? (Point){at.n, at.d * SD - PD + k / (KH * KW) * LD, at.h * SH - PH + k / KW % KH * LH,
                            at.w * SW - PW + k % KW * LW}
                  : at;
}

/* What it meets of x, from row c of the tile on. */
INLINE Scalars KERNEL(_channels)(Item item, Piece piece, int r, int k, int c) {
    SIZES;
    enum { STEP = TRANSPOSED ? 1 : SW, TAP = TRANSPOSED ? 0 : LW };
    const Point i = KERNEL(_point)(!TRANSPOSED, item, piece, r, k);
    const int pixel = (r - piece.from) * KERNEL(_met)(piece.width) + k % KW * TAP;
    const real *copy = piece.x + pixel * item.block;
    const real *a = scalars_at(item.x + offset_of(item.layout, item.number, i), copy) + c;
    return (Scalars){a, item.side_by_side ? a : a + ROWS, 1, FACTORS * STEP * item.block};
}

/* Elements of dy that are no whole vectors of `real` are copied, so that they are brought together once. */
INLINE int KERNEL(_copied)(void) {
    SIZES;
    return SIXTEEN_BITS || DY.block < BLOCK;
}

/* What it meets of dy. */
INLINE Weights KERNEL(_gradients)(Item item, Piece piece, int r, int k) {
    SIZES;
    enum { STEP = TRANSPOSED ? SW : 1 };
    const Point o = KERNEL(_point)(TRANSPOSED, item, piece, r, k);
    const int width = item.side_by_side ? 2 * LANES : LANES;
    const real *copy = piece.dy + (r - piece.from) * slots(piece.width) * width;
    if (KERNEL(_copied)())
        return (Weights){copy, item.side_by_side ? copy + LANES : copy, width, LANES};
    const stored *a = item.dy + vector_at(&DY, item.v, o);
    const stored *b = item.side_by_side ? item.dy + vector_at(&DY, item.v + 1, o) : a;
    return (Weights){scalars_at(a, NULL), scalars_at(b, NULL), STEP * DY.block, LANES};
}

/* Copies what row r has of dy: positions, or pairs of them. */
INLINE void KERNEL(_copy)(Item item, Piece piece, int r, int k) {
    SIZES;
    enum { STEP = TRANSPOSED ? SW : 1 };
    real *copy = piece.dy + (r - piece.from) * slots(piece.width) * (item.side_by_side ? 2 * LANES : LANES);
    Point o = KERNEL(_point)(TRANSPOSED, item, piece, r, k);
    for (int p = 0; p < piece.width; p += FACTORS, o.w += FACTORS * STEP)
        for (int v = item.v; v <= item.v + item.side_by_side; v++, copy += LANES) {
            const stored *dy = item.dy + vector_at(&DY, v, o);
            const int there = lanes(&DY, v);
            store_real(copy, factors_at(dy, there, dy + STEP * DY.block, p + 1 < piece.width ? there : 0));
        }
}

/* Copies what row r has of x: pixels, or pairs of those of neighbouring positions. */
INLINE void KERNEL(_pixels)(Item item, Piece piece, int r, int k) {
    SIZES;
    enum { STEP = TRANSPOSED ? 1 : SW };
    const int count = KERNEL(_met)(piece.width) * item.block, apart = STEP * item.block;
    const stored *x =
        item.x + offset_of(item.layout, item.number, KERNEL(_point)(!TRANSPOSED, item, piece, r, k));
    real *copy = piece.x + (r - piece.from) * count;
    if (FACTORS == 1)
        scalars(x, copy, count);
    for (int at = 0; FACTORS > 1 && at < count; at += LANES)
        store_real(copy + at, factors_at(x + at, count - at, x + at + apart, count - at - apart));
}

/* Copies what tap k meets, unless it is there: of x all that its row of taps meets; of positions, what all
 * taps meet. */
INLINE void KERNEL(_copies)(Item item, Piece piece, int k) {
    SIZES;
    for (int r = piece.from; r < piece.to; r++) {
        if (k == item.from || (!TRANSPOSED && k % KW == 0))
            KERNEL(_pixels)(item, piece, r, k - k % KW);
        if (k == item.from || TRANSPOSED)
            KERNEL(_copy)(item, piece, r, k);
    }
}

/* Where the sums of vector v by tap k and those behind it begin. */
INLINE real *KERNEL(_sums)(Item item, int v, int k) {
    SIZES;
    return item.sums + (v * KERNEL(_depth)() + (long)item.channel * (KD * KH * KW) + k) * LANES;
}

/* The piece of a long row is summed from zero and then added, for sums of few numbers are more exact;
 * through short rows the sums run on. */
INLINE void KERNEL(_tile)(Item item, Piece piece, int k, int c, int rows) {
    SIZES;
    const int v = item.v, side = item.side_by_side, below = side ? 0 : ROWS;
    enum { RUNS_ON = (TRANSPOSED ? (int)IW : (int)W) <= SHORT_ROW };
    const Extent e = extent(rows, side, LANES);
    Tile t = {0};
    real *const sums_a = KERNEL(_sums)(item, v, k), *const sums_b =
                                                      side ? KERNEL(_sums)(item, v + 1, k) : sums_a;
/* Row q is channel q % block by tap k + q / block. */
#define ROW(q) ((long)((q) % item.block * (KD * KH * KW) + (q) / item.block) * LANES)
#define LOAD(r)                                                                                            \
    if (RUNS_ON && e.a > r && !piece.fresh)                                                                \
        t.a.v##r = load_real(sums_a + ROW(c + r));                                                         \
    if (RUNS_ON && e.b > r && !piece.fresh)                                                                \
        t.b.v##r = load_real(sums_b + ROW(c + below + r));
#define ADD(r)                                                                                             \
    if (!RUNS_ON && e.a > r && !piece.fresh)                                                               \
        t.a.v##r += load_real(sums_a + ROW(c + r));                                                        \
    if (!RUNS_ON && e.b > r && !piece.fresh)                                                               \
        t.b.v##r += load_real(sums_b + ROW(c + below + r));
#define STORE(r)                                                                                           \
    if (e.a > r)                                                                                           \
        store_real(sums_a + ROW(c + r), t.a.v##r);                                                         \
    if (e.b > r)                                                                                           \
        store_real(sums_b + ROW(c + below + r), t.b.v##r);
    EACH_ROW(LOAD)
    for (int r = piece.from; r < piece.to; r++)
        tile_multiply(&t, add_factors, slots(piece.width), KERNEL(_channels)(item, piece, r, k, c),
                      KERNEL(_gradients)(item, piece, r, k), e);
    EACH_ROW(ADD)
    EACH_ROW(STORE)
#undef ROW
#undef LOAD
#undef ADD
#undef STORE
}

/* Adds the points of dy that belong to row r of positions to the sums for the bias. */
INLINE void KERNEL(_bias)(Item item, int r, int fresh) {
    SIZES;
    const int height = TRANSPOSED ? IH : H;
    const Rows planes =
        TRANSPOSED ? points_of(r / height, ID, SD, PD, D) : points_of(r / height, D, 1, 0, D);
    const Rows lines =
        TRANSPOSED ? points_of(r % height, IH, SH, PH, H) : points_of(r % height, H, 1, 0, H);
    for (int v = item.v; v <= item.v + item.side_by_side; v++) {
        real *at = item.sums + ((v + 1) * KERNEL(_depth)() - 1) * LANES;
        Vector sum = fresh ? (Vector){0} : load_real(at);
        for (int d = planes.begin; d < planes.end; d++)
            for (int h = lines.begin; h < lines.end; h++)
                sum += row_sum(item.dy, &DY, v, (Point){item.n, d, h, 0}, W);
        store_real(at, sum);
    }
}

/* Taps that a tile takes: of an image, whose pixels lie side by side, a row of them. */
INLINE int KERNEL(_taps)(int block) {
    SIZES;
    return block < BLOCK && LW == 1 && !TRANSPOSED ? KW : 1;
}

/* Rows of a tile, constants also if the block is not, are channels; of an image, those of all pixels that a
 * row of taps meets. The bias is one more tap. */
INLINE void KERNEL(_piece)(Item item, Piece piece) {
    SIZES;
    /* no tile has fewer rows, as compilers know at once */
    enum { WHOLE = SEGMENTS == 1 && BLOCK_OF(CI) == BLOCK && BLOCK % (2 * ROWS) == 0 };
    const int taps = KERNEL(_taps)(item.block), all = taps * item.block;
    const int tiles = (all - 1) / tile_rows(item.side_by_side) + 1;
    const int rows = item.block == BLOCK || SEGMENTS == 1 ? (all - 1) / tiles + 1 : 1;
    for (int k = item.from; k < min_int(item.to, KD * KH * KW); k += taps) {
        if (KERNEL(_copied)())
            KERNEL(_copies)(item, piece, k);
        for (int c = 0; c < all; c += rows)
            if (WHOLE || c + rows <= all)
                KERNEL(_tile)(item, piece, k, c, rows);
            else
                KERNEL(_tile)(item, piece, k, c, all % rows);
    }
    for (int r = piece.from; item.to > KD * KH * KW && piece.left == 0 && r < piece.to; r++)
        KERNEL(_bias)(item, r, piece.fresh && r == piece.from);
}

/* The rows piece by piece, each small enough to stay in the cache for all taps. */
INLINE void KERNEL(_pieces)(Item item, Rows range, int block, int side_by_side) {
    SIZES;
    enum { WIDTH = TRANSPOSED ? IW : W, LONGEST = (int)WIDTH < PIXELS ? (int)WIDTH : PIXELS };
    enum { STRIP = (int)WIDTH <= SHORT_ROW ? (PIXELS - 1) / WIDTH + 1 : 1 };
    enum { MET = TRANSPOSED ? LONGEST : (LONGEST - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real x[SIXTEEN_BITS ? STRIP * MET * BLOCK : 1];
    _Alignas(64) real dy[STRIP * LONGEST * 2 * LANES];
    item.block = block;
    item.side_by_side = side_by_side;
    for (int r = range.begin; r < range.end; r += STRIP)
        for (int left = 0; left < WIDTH; left += PIXELS) {
            const int to = min_int(r + STRIP, range.end), fresh = r == 0 && left == 0;
            KERNEL(_piece)(item, (Piece){r, to, left, min_int(PIXELS, WIDTH - left), fresh, x, dy});
        }
}

INLINE void KERNEL(_item)(Item item, Rows range, int block) {
    SIZES;
    if (HAS_PAIR(CO, item.v))
        KERNEL(_pieces)(item, range, block, 1);
    else
        KERNEL(_pieces)(item, range, block, 0);
}

/* Parts of the work on a block of a segment of x and a pair of vectors of dy. */
INLINE int KERNEL(_parts)(int s, int number) {
    SIZES;
    return KD * KH * KW / KERNEL(_taps)(segment(X, SEGMENTS, s)->block) + (BIAS && s == 0 && number == 0);
}

/* What this thread does of the work on a range of rows of sample i: of all parts in order, as many as
 * others do. */
INLINE void KERNEL(_share)(real *sums, const stored *const *x, const stored *dy, int i, Rows range) {
    SIZES;
    const int pairs = (vectors(&DY) + 1) / 2;
    int parts = 0;
    for (int s = 0; s < SEGMENTS; s++)
        for (int b = 0; b < X[s].blocks; b++)
            parts += KERNEL(_parts)(s, b) * pairs;
    const int begin = (int)((long)parts * omp_get_thread_num() / omp_get_num_threads()),
              end = (int)((long)parts * (omp_get_thread_num() + 1) / omp_get_num_threads());
    for (int s = 0, first = 0, at = 0; s < SEGMENTS; first += X[s].blocks * X[s].block, s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int b = 0; b < in->blocks; b++)
            for (int v = 0; v < vectors(&DY); v += 2, at += KERNEL(_parts)(s, b)) {
                Item item = {.sums = sums, .x = x[s], .dy = dy, .layout = in, .n = i, .number = b, .v = v};
                item.channel = first + b * in->block;
                item.from = max_int(begin - at, 0) * KERNEL(_taps)(in->block);
                item.to = min_int(end - at, KERNEL(_parts)(s, b)) * KERNEL(_taps)(in->block);
                if (item.from >= item.to)
                    continue;
                if (SEGMENTS == 1)
                    KERNEL(_item)(item, range, BLOCK_OF(CI));
                else if (in->block == BLOCK)
                    KERNEL(_item)(item, range, BLOCK);
                else
                    KERNEL(_item)(item, range, in->block);
            }
    }
}

void KERNEL()(int n, Rows rows, real *restrict dw, real *restrict db, real *restrict scratch,
                          const stored *const *x, const stored *dy) {
    SIZES;
    const long taps = KD * KH * KW, elements = vectors(&DY) * KERNEL(_depth)() * LANES;
    const long out = TRANSPOSED ? taps : CI * taps, in = TRANSPOSED ? CO * taps : taps;
    const int ends = rows.begin < rows.end && rows.end == (TRANSPOSED ? ID * IH : D * H);
    real *total = scratch + elements;
    if (ACCUMULATE && ends)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, out, in);
    for (int i = 0; i < n; i++) {
        KERNEL(_share)(scratch, x, dy, i, rows);
#pragma omp barrier
        if (ends)
            sums_add(total, scratch, elements, !ACCUMULATE && i == 0);
    }
    if (ends)
        weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, out, in);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv_wgrad: net.6 of train: net.5[n,64,64,64] d net.6[n,3,64,64] -> d net.6.weight[3,64,3,3]
    d net.6.bias[3] net.6 scratch[18464] */
#define KERNEL(part) simple_denoiser_conv_wgrad_0##part
#define SIZES \
    enum { CI = 64, CO = 3, ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, \
        KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, TRANSPOSED = 0, BIAS = 1, \
        ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        DY = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}
#include "simple_denoiser_conv_wgrad.c"

/* conv_wgrad: net.0 of train: noisy[n,3,64,64] d net.0[n,64,64,64] -> d net.0.weight[64,3,3,3]
    d net.0.bias[64] net.0 scratch[3584] */
#define KERNEL(part) simple_denoiser_conv_wgrad_1##part
#define SIZES \
    enum { CI = 3, CO = 64, ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, \
        KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, TRANSPOSED = 0, BIAS = 1, \
        ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}}, \
        DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024, 0}
#include "simple_denoiser_conv_wgrad.c"

#endif
