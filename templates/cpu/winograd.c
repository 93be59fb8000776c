/* winograd.c - functions that the kernels for 3x3 windows by Winograd's method share: transforms and
 * products.
 *
 * F(4x4, 3x3) computes a tile of 4x4 points from the 6x6 that its windows meet with 36 products a channel
 * in place of 144: input and weights go through linear maps to 36 frequencies, where the convolution is a
 * product, and the sum over the channels goes back.  For all channels and tiles these are 36 products of
 * matrices; they take the time, the maps a third of it at 64 channels, a tenth at 256.
 * (A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, 2016.)
 *
 * The polynomials behind the maps are taken at 0, +-5/8, +-3/2 and infinity, numbers that binary fractions
 * hold exactly: the error is twice the error of the direct kernel, half the error at 0, +-1, +-2.
 *
 * Tile row k of a plane begins at row 4k - phase of the output.  Rows that a tile has beyond the output are
 * computed and not stored; rows that it meets beyond the input are zeros.  A range of rows is whole tile
 * rows, and each row of an operand is found by itself, for the operand may be a ring.
 *
 * A block is a run of tiles in the order (sample, tile row of the range, tile column).  Its frequencies lie
 * as [frequency][block of channels][tile][channel]; a line of the cache between two frequencies keeps the
 * 36 stores of a tile out of one set of the cache, where powers of two would put them.  Whichever block
 * holds a tile, its sums run over the channels in order: no bit depends on threads, blocks, ranges or the
 * batch.
 *
 * Registers of a product: a tile of the prologue, as in conv.c, whose rows are tiles.  Tried: all maps with
 * named vectors for a whole tile (36 of them spill; two passes through 13 KB in the first cache do not). */
#include "prologue.c"

/* BEGIN */
#include <omp.h>

/* Frequencies are of type real or, for fast products, bf16: the processor multiplies two of them at a time
 * with two others and adds both products to a float. */
#if defined UNET_FAST_PRODUCTS && defined __AVX512BF16__
typedef uint16_t Frequency;
enum { PAIR = 2 };
#else
typedef real Frequency;
enum { PAIR = 1 }; /* factors that lie side by side */
#endif

enum {
    TILE = 4,                     /* points of a tile along an axis, */
    MET = 6,                      /*   the points that it meets, and the frequencies */
    FREQUENCIES = MET * MET,      /* of a tile */
    SUM_GAP = BLOCK,              /* elements between the sums of two frequencies: a line of the cache, */
    FREQUENCY_GAP = PAIR * BLOCK, /*   and between the frequencies of their factors */
    RUN = 8,                      /* tiles whose columns are mapped together */
};

/* Six vectors along an axis of a tile. */
typedef struct {
    Vector v0, v1, v2, v3, v4, v5;
} Six;

typedef struct {
    Vector v0, v1, v2, v3;
} Four;

typedef struct {
    Vector v0, v1, v2;
} Three;

INLINE Six six_load(const real *p, long step) {
    return (Six){load_real(p),
                 load_real(p + step),
                 load_real(p + 2 * step),
                 load_real(p + 3 * step),
                 load_real(p + 4 * step),
                 load_real(p + 5 * step)};
}

INLINE Four four_load(const real *p, long step) {
    return (Four){load_real(p), load_real(p + step), load_real(p + 2 * step), load_real(p + 3 * step)};
}

INLINE Three three_load(const real *p) {
    return (Three){load_real(p), load_real(p + LANES), load_real(p + 2 * LANES)};
}

INLINE void six_store(real *p, long step, Six s) {
    store_real(p, s.v0);
    store_real(p + step, s.v1);
    store_real(p + 2 * step, s.v2);
    store_real(p + 3 * step, s.v3);
    store_real(p + 4 * step, s.v4);
    store_real(p + 5 * step, s.v5);
}

/* ---- frequencies in memory --------------------------------------------------------------------------- */

#if defined UNET_FAST_PRODUCTS && defined __AVX512BF16__
/* Stores a; paired, lane by lane one of a, then one of b. */
INLINE void factor_store(Frequency *p, Vector a, Vector b, int paired) {
    if (paired)
        store_real((void *)p, pairs(a, b));
    else
        _mm256_storeu_si256((__m256i *)(void *)p, (__m256i)_mm512_cvtneps_pbh((__m512)a));
}

INLINE Vector add_frequencies(Vector sum, const real *x, Vector w) {
    return add_products(sum, x, w);
}
#else
INLINE void factor_store(Frequency *p, Vector a, Vector b, int paired) {
    store_real(p, a);
    (void)b, (void)paired;
}

INLINE Vector add_frequencies(Vector sum, const real *x, Vector w) {
    return add_product(sum, x, w);
}
#endif

/* tile_multiply() of frequencies. */
INLINE void tile_products(Tile *t, int depth, const Frequency *xa, const Frequency *xb, long row, long next,
                          const Frequency *wa, const Frequency *wb, long step, Extent e) {
    const Scalars x = {(const void *)xa, (const void *)xb, row / PAIR, next / PAIR};
    const Weights w = {(const void *)wa, (const void *)wb, step / PAIR, LANES};
    tile_multiply(t, add_frequencies, depth, x, w, e);
}

/* The six of a row of frequencies, each in a plane of its own; paired, beside the six of b. */
INLINE void frequencies_store(Frequency *p, long step, Six a, Six b, int paired) {
    factor_store(p, a.v0, b.v0, paired);
    factor_store(p + step, a.v1, b.v1, paired);
    factor_store(p + 2 * step, a.v2, b.v2, paired);
    factor_store(p + 3 * step, a.v3, b.v3, paired);
    factor_store(p + 4 * step, a.v4, b.v4, paired);
    factor_store(p + 5 * step, a.v5, b.v5, paired);
}

/* ---- the maps, along one axis ------------------------------------------------------------------------ */

#define POINT_A 0.625f
#define POINT_B 1.5f
#define SQUARE_A (POINT_A * POINT_A)
#define SQUARE_B (POINT_B * POINT_B)

/* The frequencies of the points that a tile meets. */
INLINE Six input_frequencies(Six d) {
    const Vector p = d.v4 - SQUARE_B * d.v2, q = POINT_A * (d.v3 - SQUARE_B * d.v1);
    const Vector r = d.v4 - SQUARE_A * d.v2, s = POINT_B * (d.v3 - SQUARE_A * d.v1);
    const real ends = SQUARE_A * SQUARE_B, middle = SQUARE_A + SQUARE_B;
    return (Six){ends * d.v0 + (d.v4 - middle * d.v2), p + q, p - q, r + s, r - s,
                 ends * d.v1 + (d.v5 - middle * d.v3)};
}

/* Back: the points of a tile, from sums over the channels. */
INLINE Four output_points(Six m) {
    const Vector s = m.v1 + m.v2, d = m.v1 - m.v2, u = m.v3 + m.v4, e = m.v3 - m.v4;
    return (Four){m.v0 + (s + u), POINT_A * d + POINT_B * e, SQUARE_A * s + SQUARE_B * u,
                  (POINT_A * SQUARE_A) * d + ((POINT_B * SQUARE_B) * e + m.v5)};
}

/* Its transpose, for gradients of weights: of the gradients of a tile. */
INLINE Six output_frequencies(Four y) {
    const Vector p = SQUARE_A * y.v2 + y.v0, q = POINT_A * (SQUARE_A * y.v3 + y.v1);
    const Vector r = SQUARE_B * y.v2 + y.v0, s = POINT_B * (SQUARE_B * y.v3 + y.v1);
    return (Six){y.v0, p + q, p - q, r + s, r - s, y.v3};
}

/* The products of the differences between a point and the others, which the weights are divided by. */
#define DIFFERENCES_0 (SQUARE_A * SQUARE_B)
#define DIFFERENCES_A (2 * SQUARE_A * (SQUARE_A - SQUARE_B))
#define DIFFERENCES_B (2 * SQUARE_B * (SQUARE_B - SQUARE_A))

INLINE Six weight_frequencies(Three w) {
    const Vector p = (1 / DIFFERENCES_A) * w.v0 + (SQUARE_A / DIFFERENCES_A) * w.v2;
    const Vector r = (1 / DIFFERENCES_B) * w.v0 + (SQUARE_B / DIFFERENCES_B) * w.v2;
    const Vector q = (POINT_A / DIFFERENCES_A) * w.v1, s = (POINT_B / DIFFERENCES_B) * w.v1;
    return (Six){(1 / DIFFERENCES_0) * w.v0, p + q, p - q, r + s, r - s, w.v2};
}

/* Its transpose: gradients of weights. */
INLINE Three weight_gradients(Six u) {
    const Vector p = (1 / DIFFERENCES_A) * (u.v1 + u.v2), q = (POINT_A / DIFFERENCES_A) * (u.v1 - u.v2);
    const Vector r = (1 / DIFFERENCES_B) * (u.v3 + u.v4), s = (POINT_B / DIFFERENCES_B) * (u.v3 - u.v4);
    return (Three){(1 / DIFFERENCES_0) * u.v0 + (p + r), q + s, SQUARE_A * p + (SQUARE_B * r + u.v5)};
}

/* ---- tiles ------------------------------------------------------------------------------------------- */

/* The points of an output, the tiles that cover them, and which of these are computed: in each sample
 * `rows` tile rows, counted through all planes, from number `first` on. */
typedef struct {
    int depth, height, width;
    int columns; /* of tiles, at least as many as cover the width */
    int phase;   /* tile row k of a plane begins at row TILE * k - phase */
    int first, rows;
} Grid;

/* Tiles side by side: their first point, and how many there are. */
typedef struct {
    Point at;
    int tiles;
} Run;

INLINE int tiles_along(int points) {
    return (points + TILE - 1) / TILE;
}

/* The number of the tile row that begins at row r of a sample, or, if that is the end of a plane, at the
 * next one. */
INLINE int tile_row_at(int r, int height, int phase) {
    return r / height * tiles_along(height + phase) + (r % height + phase) / TILE;
}

INLINE Grid grid(int depth, int height, int width, int phase, Rows rows) {
    const int first = tile_row_at(rows.begin, height, phase), end = tile_row_at(rows.end, height, phase);
    return (Grid){depth, height, width, tiles_along(width), phase, first, end - first};
}

/* The tiles that are computed of a sample. */
INLINE long tiles_of(Grid g) {
    return (long)g.rows * g.columns;
}

/* From tile `tile` of the batch on, at most `most` of them. */
INLINE Run run_from(Grid g, long tile, long most) {
    const int in_plane = tiles_along(g.height + g.phase), column = (int)(tile % g.columns);
    const long of_batch = tile / g.columns;
    const int row = g.first + (int)(of_batch % g.rows);
    return (Run){{(int)(of_batch / g.rows), row / in_plane, row % in_plane * TILE - g.phase, column * TILE},
                 most < g.columns - column ? (int)most : g.columns - column};
}

INLINE long min_long(long a, long b) {
    return a < b ? a : b;
}

/* The places of frequencies of a block of `tiles`: elements from one block of channels to the next, and
 * from one frequency to the next. */
typedef struct {
    long block, frequency;
} Strides;

INLINE Strides frequency_strides(int tiles, int channel_blocks, int gap) {
    const long block = (long)tiles * BLOCK;
    return (Strides){block, channel_blocks * block + gap};
}

/* The memory of FREQUENCIES planes, in elements of type real. */
INLINE long planes_size(Strides s) {
    return FREQUENCIES * s.frequency / PAIR;
}

/* From one frequency of weights to the next, between `depth` channels and `all` vectors of others. */
INLINE long weights_stride(long depth, int all, int gap) {
    return depth * all * LANES + gap;
}

/* ---- to frequencies ---------------------------------------------------------------------------------- */

/* The points of rows above the first and below the last. */
static const stored no_points[(TILE * RUN + 2) * BLOCK];

/* Finds the rows [h, h + count) of a tensor of `height` rows, from `column` on, which lies in row 0.  Rows
 * that it has not are zero: read, not left out, so that all tiles are computed by the same instructions. */
INLINE void rows_find(const stored **rows, int count, const stored *column, const Layout *l, int h,
                      int height) {
    for (int r = 0; r < count; r++, h++)
        rows[r] = h >= 0 && h < height ? column + place_of_row(l, h) * l->row : no_points;
}

/* Maps the columns of up to RUN tiles, then their rows.  x: the MET rows that they meet; only `columns`
 * points of these are there, points beyond count as zero.  `next`: the distance to the points that will be
 * mapped next.  `paired`: neighbours belong to two tiles, whose number is even, else to two channels. */
INLINE void tiles_map(const stored *const *x, long next, int columns, int tiles, Frequency *to,
                      long frequency, int paired) {
    _Alignas(64) real mapped[(TILE * RUN + 2) * MET * LANES];
    const int all = TILE * tiles + 2, there = max_int(0, min_int(columns, all));
    const stored *const x0 = x[0], *const x1 = x[1], *const x2 = x[2];
    const stored *const x3 = x[3], *const x4 = x[4], *const x5 = x[5];
    for (int part = 0; part < BLOCK; part += LANES) {
        for (int c = 0; c < there; c++) {
            const long at = c * BLOCK + part;
            const Six met = {load(x0 + at), load(x1 + at), load(x2 + at),
                             load(x3 + at), load(x4 + at), load(x5 + at)};
            six_store(mapped + c * MET * LANES, LANES, input_frequencies(met));
            __builtin_prefetch(x0 + next + at);
            __builtin_prefetch(x1 + next + at);
            __builtin_prefetch(x2 + next + at);
            __builtin_prefetch(x3 + next + at);
            __builtin_prefetch(x4 + next + at);
            __builtin_prefetch(x5 + next + at);
        }
        memset(mapped + there * MET * LANES, 0, (size_t)((all - there) * MET * LANES) * sizeof *mapped);
        for (int i = 0; i < MET; i++)
            for (int t = 0; t < tiles; t += 1 + paired) {
                const real *row_of_tile = mapped + (t * TILE * MET + i) * LANES;
                const real *next_tile = row_of_tile + paired * TILE * MET * LANES;
                frequencies_store(to + i * MET * frequency + t * BLOCK + part, frequency,
                                  input_frequencies(six_load(row_of_tile, MET * LANES)),
                                  input_frequencies(six_load(next_tile, MET * LANES)), paired);
            }
    }
}

NOINLINE void input_map(const stored *const *x, long next, int columns, int tiles, Frequency *to,
                        long frequency, int paired) {
    if (paired && PAIR > 1)
        tiles_map(x, next, columns, tiles, to, frequency, 1);
    else
        tiles_map(x, next, columns, tiles, to, frequency, 0);
}

/* Windows begin `top` and `left` of their point, over an input of `height` rows. */
typedef struct {
    int height, top, left;
} WindowStart;

/* The tiles [first, end) of block `number` of x into a block of frequencies that begins with tile `first`.
 */
INLINE void block_map(const stored *x, const Layout *layout, int number, Grid g, WindowStart window,
                      long first, long end, Frequency *to, long frequency, int paired) {
    for (long tile = first; tile < end;) {
        const Run run = run_from(g, tile, min_long(RUN, end - tile));
        const Point column = {run.at.n, run.at.d, 0, run.at.w - window.left};
        const long next = run.tiles == RUN ? TILE * RUN * BLOCK : layout->plane;
        const stored *met[MET];
        rows_find(met, MET, x + offset_of(layout, number, column), layout, run.at.h - window.top,
                  window.height);
        input_map(met, next, g.width + 2 - run.at.w, run.tiles, to + (tile - first) * BLOCK, frequency,
                  paired);
        tile += run.tiles;
    }
}

/* ---- products ---------------------------------------------------------------------------------------- */

/* The factors at a frequency: so many blocks of channels, which are `next` apart, of each of `taps` planes
 * in depth, `tap` elements behind `from`. */
typedef struct {
    const Frequency *from, *weights;
    const long *tap;
    long next;
    int taps, blocks;
} Factors;

/* For `tiles` tiles: to[tile] = the sum over taps and blocks of channels of from[tile] * weights. `pair`:
 * elements from the first vector of channels to the second. */
INLINE void products(real *to, long pair, Factors of, int tiles, int side_by_side) {
    const int rows = tile_rows(side_by_side), width = PAIR * (side_by_side ? 2 * LANES : LANES);
    const Extent e = extent(rows, side_by_side, LANES);
    for (int t = 0; t < tiles; t += rows, of.from += rows * BLOCK, to += rows * BLOCK) {
        const Frequency *w = of.weights;
        Tile sums = {0};
        for (int k = 0; k < of.taps; k++)
            for (int b = 0; b < of.blocks; b++, w += BLOCK / PAIR * width) {
                const Frequency *x = of.from + of.tap[k] + b * of.next;
                tile_products(&sums, BLOCK / PAIR, x, side_by_side ? x : x + ROWS * BLOCK, BLOCK, PAIR, w,
                              side_by_side ? w + PAIR * LANES : w, width, e);
            }
        tile_store(1, to, (Spot){0, side_by_side ? pair : ROWS * BLOCK, BLOCK}, sums, e);
    }
}

NOINLINE void products_pair(real *to, long pair, const Factors *of, int tiles) {
    products(to, pair, *of, tiles, 1);
}

NOINLINE void products_single(real *to, const Factors *of, int tiles) {
    products(to, 0, *of, tiles, 0);
}

/* ---- back -------------------------------------------------------------------------------------------- */

/* The end of sums: y = sum + bias, then max(., 0), or 0 where mask <= 0. */
typedef struct {
    Vector bias;
    int relu;
    const stored *mask; /* at the point y of output_map(); NULL: none */
    stored *pooled;     /* for the maxima of each 2x2 points, likewise */
    const Layout *mask_layout, *pooled_layout;
} Finish;

INLINE void point_store(stored *y, Vector v, const Finish *f, const stored *mask) {
    v += f->bias;
    if (f->relu)
        v = vector_relu(v);
    if (mask)
        v = vector_mask(v, load(mask));
    store(y, v);
}

/* The maximum of four points that were just stored: read again, for in 16 bits they were rounded. */
INLINE Vector window_maximum(const stored *upper, const stored *lower) {
    const Vector first = vector_maximum(load(upper), load(upper + BLOCK));
    return vector_maximum(vector_maximum(first, load(lower)), load(lower + BLOCK));
}

/* Maps the columns of a tile, then its rows, into the rows of `rows` below y, a point of row 0.  The first
 * row of the tile is row h; only `columns` of its points are there. */
NOINLINE void output_map(const real *from, long frequency, stored *y, const Layout *layout, int h,
                         Rows rows, int columns, const Finish *f) {
    _Alignas(64) real mapped[MET * TILE * LANES];
    stored *row[TILE];
    for (int r = rows.begin; r < rows.end; r++) {
        row[r - h] = y + place_of_row(layout, r) * layout->row;
        for (int c = 0; c < TILE; c++) /* the lines of the next tile come while this one is computed */
            __builtin_prefetch(row[r - h] + (TILE + c) * BLOCK, 1);
    }
    for (int j = 0; j < MET; j++) {
        const Four points = output_points(six_load(from + j * frequency, MET * frequency));
        real *to = mapped + j * LANES;
        store_real(to, points.v0);
        store_real(to + MET * LANES, points.v1);
        store_real(to + 2 * MET * LANES, points.v2);
        store_real(to + 3 * MET * LANES, points.v3);
    }
    for (int r = rows.begin; r < rows.end; r++) {
        const Four points = output_points(six_load(mapped + (r - h) * MET * LANES, LANES));
        const stored *mask =
            f->mask ? f->mask + place_of_row(f->mask_layout, r) * f->mask_layout->row : NULL;
        stored *to = row[r - h];
        point_store(to, points.v0, f, mask);
        if (columns > 1)
            point_store(to + BLOCK, points.v1, f, mask ? mask + BLOCK : NULL);
        if (columns > 2)
            point_store(to + 2 * BLOCK, points.v2, f, mask ? mask + 2 * BLOCK : NULL);
        if (columns > 3)
            point_store(to + 3 * BLOCK, points.v3, f, mask ? mask + 3 * BLOCK : NULL);
    }
    for (int r = f->pooled ? rows.begin : rows.end; r + 1 < rows.end; r += 2) {
        const stored *upper = row[r - h], *lower = row[r - h + 1];
        stored *to = f->pooled + place_of_row(f->pooled_layout, r / 2) * f->pooled_layout->row;
        if (columns > 1)
            store(to, window_maximum(upper, lower));
        if (columns > 3)
            store(to + BLOCK, window_maximum(upper + 2 * BLOCK, lower + 2 * BLOCK));
    }
}

/* ---- a convolution ----------------------------------------------------------------------------------- */

/* A convolution with a 3x3 window, or the gradient of one by its input, which is another. */
typedef struct {
    const stored *const *x; /* segments, */
    const Layout *from;     /*   and how they lie */
    int segments;
    const Frequency *weights; /* as winograd_weights() left them */
    const real *bias;         /* NULL: none */
    const stored *mask;       /* NULL: none */
    const Layout *to, *mask_layout, *pooled_layout;
    stored *y;
    stored *pooled;     /* maxima of each 2x2 points of y; NULL: none. The phase is even, then. */
    int relu, channels; /* of y */
    Grid grid;          /* of y */
    int samples;
    WindowStart window;
    int taps, front, planes; /* of windows of several planes: these, how many of them lie in front of the
                              * plane of their point, and the planes of x; of one plane 0 */
} Winograd;

/* Tiles that a block holds, of at most `most`: whole tiles of registers. */
INLINE int block_tiles(int most) {
    return most / (2 * ROWS) * (2 * ROWS);
}

INLINE int channel_blocks(const Winograd *c) {
    return stored_channels(c->from, c->segments) / BLOCK;
}

INLINE int planes_met(const Winograd *c) {
    return max_int(1, c->taps);
}

/* Block `number` of all segments; of the tiles of `g`. */
INLINE void channels_map(const Winograd *c, Grid g, int number, long first, long end, Frequency *to,
                         long frequency, int paired) {
    int s = 0;
    for (; number >= c->from[s].blocks; s++)
        number -= c->from[s].blocks;
    block_map(c->x[s], &c->from[s], number, g, c->window, first, end, to, frequency, paired);
}

/* The sums of vectors v and, if there is one, v + 1 of channels at a frequency. */
INLINE void frequency_products(const Winograd *c, int frequency, int v, real *to, Strides out,
                               const Frequency *from, Strides in, const long *tap, int tiles) {
    const int all = c->to->blocks * PARTS, blocks = channel_blocks(c);
    const long depth = (long)planes_met(c) * blocks * BLOCK;
    const Factors of = {.from = from + frequency * in.frequency,
                        .weights = c->weights + frequency * weights_stride(depth, all, FREQUENCY_GAP) +
                                   v * LANES * depth,
                        .tap = tap,
                        .next = in.block,
                        .taps = planes_met(c),
                        .blocks = blocks};
    to += frequency * out.frequency + v % PARTS * LANES;
    if (v + 1 < all)
        products_pair(to, PARTS > 1 ? LANES : out.block, &of, tiles);
    else
        products_single(to, &of, tiles);
}

static const long no_depth[] = {0};

/* Stores vector v of the tiles [first, end); tile `first` is the first at `from`. */
UNUSED static void vector_finish(const Winograd *c, int v, long first, long end, const real *from,
                                 long frequency) {
    Finish f = {.bias = c->bias ? bias_vector(c->bias, c->channels, v) : (Vector){0},
                .relu = c->relu,
                .mask_layout = c->mask_layout,
                .pooled_layout = c->pooled_layout};
    for (long tile = first; tile < end; tile++, from += BLOCK) {
        const Point at = run_from(c->grid, tile, 1).at, column = {at.n, at.d, 0, at.w};
        const Rows rows = {max_int(0, at.h), min_int(at.h + TILE, c->grid.height)};
        if (c->mask)
            f.mask = c->mask + vector_at(c->mask_layout, v, column);
        if (c->pooled)
            f.pooled = c->pooled + vector_at(c->pooled_layout, v, (Point){at.n, at.d, 0, at.w / 2});
        output_map(from, frequency, c->y + vector_at(c->to, v, column), c->to, at.h, rows,
                   c->grid.width - at.w, &f);
    }
}

/* Each thread computes blocks of its own, in a slot of `scratch` of its own, small enough for its cache:
 * for layers of many tiles and few channels. */
UNUSED static void winograd_blocks(const Winograd *c, real *scratch, int most) {
    const int blocks = channel_blocks(c), size = block_tiles(most);
    const long tiles = c->samples * tiles_of(c->grid);
    const Strides in = frequency_strides(most, blocks, FREQUENCY_GAP),
                  out = frequency_strides(most, min_int(2, c->to->blocks), SUM_GAP);
    real *slot = scratch + omp_get_thread_num() * (planes_size(in) + FREQUENCIES * out.frequency);
    Frequency *from = (Frequency *)slot;
    real *to = slot + planes_size(in);
#pragma omp for schedule(static)
    for (long first = 0; first < tiles; first += size) {
        const long end = min_long(first + size, tiles);
        for (int b = 0; b < blocks; b++)
            channels_map(c, c->grid, b, first, end, from + b * in.block, in.frequency, 0);
        for (int v = 0; v < vectors(c->to); v += 2) {
            for (int f = 0; f < FREQUENCIES; f++)
                frequency_products(c, f, v, to, out, from, in, no_depth, size);
            for (int k = v; k < min_int(v + 2, vectors(c->to)); k++)
                vector_finish(c, k, first, end,
                              to + (k / PARTS - v / PARTS) * out.block + k % PARTS * LANES, out.frequency);
        }
    }
}

/* All threads compute one block after the other: for layers of few tiles and many channels. */
UNUSED static void winograd_groups(const Winograd *c, real *scratch, int most) {
    const int blocks = channel_blocks(c), size = block_tiles(most);
    const long tiles = c->samples * tiles_of(c->grid);
    const Strides in = frequency_strides(most, blocks, FREQUENCY_GAP),
                  out = frequency_strides(most, c->to->blocks, SUM_GAP);
    Frequency *from = (Frequency *)scratch;
    real *to = scratch + planes_size(in);
    for (long first = 0; first < tiles; first += size) {
        const long end = min_long(first + size, tiles);
#pragma omp for collapse(2) schedule(static)
        for (int b = 0; b < blocks; b++)
            for (long t = first; t < end; t += RUN)
                channels_map(c, c->grid, b, t, min_long(t + RUN, end),
                             from + b * in.block + (t - first) * BLOCK, in.frequency, 0);
#pragma omp for collapse(2) schedule(static)
        for (int f = 0; f < FREQUENCIES; f++)
            for (int v = 0; v < vectors(c->to); v += 2)
                frequency_products(c, f, v, to + v / PARTS * out.block, out, from, in, no_depth, size);
#pragma omp for collapse(2) schedule(static)
        for (int v = 0; v < vectors(c->to); v++)
            for (long t = first; t < end; t += RUN)
                vector_finish(c, v, t, min_long(t + RUN, end),
                              to + v / PARTS * out.block + v % PARTS * LANES + (t - first) * BLOCK,
                              out.frequency);
    }
}

/* ---- weights ----------------------------------------------------------------------------------------- */

/* The places of the weights of a channel and of LANES others that are summed, or the other way round, among
 * dense ones [CO][CI][3][3]. */
typedef struct {
    const real *w;
    long lane, channel;  /* from one to the next; */
    int lanes, channels; /* so many are there, the others count as zero; */
    int flipped;         /* the windows of a gradient run backwards */
} Dense;

typedef real Quad __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));

/* Rows become columns: four elements each from w, w + lane, ..; to to, to + step, .. */
INLINE void quads_transpose(real *to, long step, const real *w, long lane) {
    const Quad a = *(const Quad *)w, b = *(const Quad *)(w + lane), c = *(const Quad *)(w + 2 * lane),
               d = *(const Quad *)(w + 3 * lane);
    const Quad ab = {a[0], b[0], a[1], b[1]}, cd = {c[0], d[0], c[1], d[1]};
    const Quad ab2 = {a[2], b[2], a[3], b[3]}, cd2 = {c[2], d[2], c[3], d[3]};
    *(Quad *)to = (Quad){ab[0], ab[1], cd[0], cd[1]};
    *(Quad *)(to + step) = (Quad){ab[2], ab[3], cd[2], cd[3]};
    *(Quad *)(to + 2 * step) = (Quad){ab2[0], ab2[1], cd2[0], cd2[1]};
    *(Quad *)(to + 3 * step) = (Quad){ab2[2], ab2[3], cd2[2], cd2[3]};
}

/* The 9 taps of a channel with LANES others, the weights of each tap side by side. */
INLINE void taps_load(real *to, Dense from, int first, int channel) {
    const int there = channel < from.channels ? min_int(LANES, from.lanes - first) : 0;
    const long lane = from.lane, step = from.flipped ? -LANES : LANES;
    const real *w = from.w + first * lane + channel * from.channel;
    int i = 0;
    for (to += from.flipped ? 8 * LANES : 0; i + 4 <= there; i += 4, to += 4, w += 4 * lane) {
        quads_transpose(to, step, w, lane);
        quads_transpose(to + 4 * step, step, w + 4, lane);
        *(Quad *)(to + 8 * step) = (Quad){w[8], w[lane + 8], w[2 * lane + 8], w[3 * lane + 8]};
    }
    for (; i < LANES; i++, to++, w += lane)
        for (int k = 0; k < 9; k++)
            to[k * step] = i < there ? w[k] : 0;
}

/* The frequencies of the weights between a channel, or a pair of them, and vector v of others. */
NOINLINE void weights_map(Frequency *to, long frequency, Dense from, int v, int channel) {
    _Alignas(64) real taps[PAIR * 9 * LANES], mapped[PAIR * 3 * MET * LANES];
    for (int k = 0; k < PAIR; k++)
        taps_load(taps + k * 9 * LANES, from, v * LANES, channel + k);
    for (int k = 0; k < 3 * PAIR; k++) { /* columns of the first, then of the second */
        const real *at = taps + (k / 3 * 9 + k % 3) * LANES;
        const Vector a = load_real(at), b = load_real(at + 3 * LANES), c = load_real(at + 6 * LANES);
        six_store(mapped + k * LANES, PAIR * 3 * LANES,
                  weight_frequencies((Three){rounded(a), rounded(b), rounded(c)}));
    }
    for (int i = 0; i < MET; i++) {
        const real *row = mapped + i * PAIR * 3 * LANES, *next = row + (PAIR - 1) * 3 * LANES;
        frequencies_store(to + i * MET * frequency, frequency, weight_frequencies(three_load(row)),
                          weight_frequencies(three_load(next)), PAIR > 1);
    }
}

/* Weights between `all` vectors and the channels of segments, as [frequency][pair of vectors][plane of the
 * window][channel][vector of the pair][lane]; of fast products [frequency][pair of vectors][plane][pair of
 * channels][vector of the pair][lane][channel of the pair]. The windows have so many planes: the planes of
 * a channel lie side by side. */
UNUSED static void winograd_weights(Frequency *packed, Dense from, int all, const Layout *x, int segments,
                                    int planes) {
    const long depth = (long)planes * stored_channels(x, segments),
               frequency = weights_stride(depth, all, FREQUENCY_GAP);
#pragma omp for schedule(static)
    for (int v = 0; v < all; v++) {
        const int width = (v | 1) < all ? 2 * LANES : LANES;
        Frequency *to = packed + (v & ~1) * LANES * depth + (v & 1) * PAIR * LANES;
        for (int k = 0; k < planes; k++) {
            Dense segment = from;
            segment.w += 9 * (from.flipped ? planes - 1 - k : k);
            for (int s = 0; s < segments; s++) {
                segment.channels = x[s].channels;
                for (int c = 0; c < x[s].blocks * BLOCK; c += PAIR, to += PAIR * width)
                    weights_map(to, frequency, segment, v, c);
                segment.w += x[s].channels * from.channel;
            }
        }
    }
}
/* END */
