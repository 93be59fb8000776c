/* simple_denoiser_winograd.h - what the kernels for 3x3 windows by Winograd's method share: its transforms and products.
 *
 * F(4x4, 3x3) computes a tile of 4x4 points from the 6x6 that its windows meet with 36 products a channel
 * in place of 144: input and weights go through linear maps to 36 frequencies, where the convolution is a
 * product, and the sum over the channels goes back.  For all channels and tiles these are 36 products of
 * matrices; they take the time, the maps a third of it at 64 channels, a tenth at 256.
 * (A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, 2016.)
 *
 * The polynomials behind the maps are taken at 0, +-5/8, +-3/2 and infinity, numbers that binary fractions
 * hold exactly: the error is twice that of the direct kernel, half of that at 0, +-1, +-2.
 *
 * A block is a run of tiles in the order (sample, depth, tile row, tile column).  Its frequencies lie as
 * [frequency][block of channels][tile][channel]; a line of the cache between two frequencies keeps the 36
 * stores of a tile out of one set of the cache, where powers of two would put them.  Whichever block holds
 * a tile, its sums run over the channels in order: no bit depends on threads, blocks or the batch.
 *
 * Registers of a product: a tile of the prologue, as in conv.c, whose rows are tiles.  Tried: all maps with
 * named vectors for a whole tile (36 of them spill; two passes through 13 KB in the first cache do not).
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#include "simple_denoiser_kernels.h"

#include <omp.h>

enum {
    TILE = 4,                /* points of a tile along an axis, */
    MET = 6,                 /*   those that it meets, and the frequencies */
    FREQUENCIES = MET * MET, /* of a tile */
    FREQUENCY_GAP = BLOCK,   /* elements between those of two frequencies */
    RUN = 8,                 /* tiles whose columns are mapped together */
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

INLINE void six_store(real *p, long step, Six s) {
    store_real(p, s.v0);
    store_real(p + step, s.v1);
    store_real(p + 2 * step, s.v2);
    store_real(p + 3 * step, s.v3);
    store_real(p + 4 * step, s.v4);
    store_real(p + 5 * step, s.v5);
}

/* ---- the maps, along one axis ------------------------------------------------------------------------ */

#define POINT_A 0.625f
#define POINT_B 1.5f
#define SQUARE_A (POINT_A * POINT_A)
#define SQUARE_B (POINT_B * POINT_B)

/* Of the points that a tile meets. */
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

/* The points of an output, and the tiles that cover them. */
typedef struct {
    int depth, height, width;
} Grid;

/* Tiles side by side: their first point, and how many there are. */
typedef struct {
    Point at;
    int tiles;
} Run;

INLINE int tiles_along(int points) {
    return (points + TILE - 1) / TILE;
}

INLINE int tiles_of(Grid g) {
    return g.depth * tiles_along(g.height) * tiles_along(g.width);
}

/* From tile `tile` of the batch on, at most `most` of them. */
INLINE Run run_from(Grid g, int tile, int most) {
    const int columns = tiles_along(g.width), rows = tiles_along(g.height);
    const int column = tile % columns, row = tile / columns;
    return (Run){{row / rows / g.depth, row / rows % g.depth, row % rows * TILE, column * TILE},
                 min_int(most, columns - column)};
}

/* Where frequencies of a block of `tiles` lie: elements from one block of channels to the next, and from
 * one frequency to the next. */
typedef struct {
    long block, frequency;
} Strides;

INLINE Strides frequency_strides(int tiles, int channel_blocks) {
    const long block = (long)tiles * BLOCK;
    return (Strides){block, channel_blocks * block + FREQUENCY_GAP};
}

/* From one frequency of weights to the next, between `depth` channels and `all` vectors of others. */
INLINE long weights_stride(long depth, int all) {
    return depth * all * LANES + FREQUENCY_GAP;
}

/* ---- to frequencies ---------------------------------------------------------------------------------- */

/* What rows beyond the last hold. */
static const stored no_points[(TILE * RUN + 2) * BLOCK];

/* Rows of points, one below the other. */
typedef struct {
    const stored *v0, *v1, *v2, *v3, *v4, *v5;
} SixRows;

/* Those from row `there` on are zero: read, not left out, so that all tiles are computed by the same
 * instructions. */
INLINE SixRows six_rows(const stored *x, long row, int there) {
    return (SixRows){x,
                     there > 1 ? x + row : no_points,
                     there > 2 ? x + 2 * row : no_points,
                     there > 3 ? x + 3 * row : no_points,
                     there > 4 ? x + 4 * row : no_points,
                     there > 5 ? x + 5 * row : no_points};
}

INLINE Six column_load(SixRows x, long at) {
    return (Six){load(x.v0 + at), load(x.v1 + at), load(x.v2 + at),
                 load(x.v3 + at), load(x.v4 + at), load(x.v5 + at)};
}

/* Brings a column into the cache. */
INLINE void column_fetch(const stored *x, long row) {
    __builtin_prefetch(x);
    __builtin_prefetch(x + row);
    __builtin_prefetch(x + 2 * row);
    __builtin_prefetch(x + 3 * row);
    __builtin_prefetch(x + 4 * row);
    __builtin_prefetch(x + 5 * row);
}

/* Maps the columns of up to RUN tiles, then their rows.  x: the first point that they meet, of rows `row`
 * apart; only `rows` by `columns` points are there, what is beyond counts as zero.  `next`: from there to
 * what will be mapped next. */
NOINLINE void input_map(const stored *x, long next, long row, int rows, int columns, int tiles, real *to,
                        long frequency) {
    _Alignas(64) real mapped[(TILE * RUN + 2) * MET * LANES];
    const int all = TILE * tiles + 2, there = min_int(columns, all);
    const SixRows points = six_rows(x, row, rows);
    for (int part = 0; part < BLOCK; part += LANES) {
        for (int c = 0; c < there; c++) {
            six_store(mapped + c * MET * LANES, LANES,
                      input_frequencies(column_load(points, c * BLOCK + part)));
            column_fetch(x + next + c * BLOCK + part, row);
        }
        memset(mapped + there * MET * LANES, 0, (size_t)((all - there) * MET * LANES) * sizeof *mapped);
        for (int i = 0; i < MET; i++)
            for (int t = 0; t < tiles; t++)
                six_store(to + i * MET * frequency + t * BLOCK + part, frequency,
                          input_frequencies(six_load(mapped + (t * TILE * MET + i) * LANES, MET * LANES)));
    }
}

/* The tiles [first, end) of block `number` of x, whose windows begin `top` and `left` of their point, into
 * a block of frequencies that begins with tile `first`. */
UNUSED static void block_map(const stored *x, const Layout *layout, int number, Grid g, int top, int left,
                             int first, int end, real *to, long frequency) {
    for (int tile = first; tile < end;) {
        const Run run = run_from(g, tile, min_int(RUN, end - tile));
        const Point met = {run.at.n, run.at.d, run.at.h - top, run.at.w - left};
        const long next = run.tiles == RUN ? TILE * RUN * BLOCK : layout->plane;
        input_map(x + offset_of(layout, number, met), next, layout->row, g.height + 2 - run.at.h,
                  g.width + 2 - run.at.w, run.tiles, to + (long)(tile - first) * BLOCK, frequency);
        tile += run.tiles;
    }
}

/* ---- products ---------------------------------------------------------------------------------------- */

/* For `tiles` tiles: to[tile] = the sum over blocks of channels of from[tile] * weights. `pair`: elements
 * from the first vector of channels to the second. */
NOINLINE void products_pair(real *to, long pair, const real *from, long next, const real *weights,
                            int blocks, int tiles) {
    const Extent e = {ROWS, ROWS, LANES};
    for (int t = 0; t < tiles; t += ROWS, from += ROWS * BLOCK, to += ROWS * BLOCK) {
        Tile sums = {0};
        for (int b = 0; b < blocks; b++) {
            const real *x = from + b * next, *w = weights + b * (BLOCK * 2 * LANES);
            tile_multiply(&sums, BLOCK, (Scalars){x, x, BLOCK, 1},
                          (Weights){w, w + LANES, 2 * LANES, LANES}, e);
        }
        tile_store(1, to, (Spot){0, pair, BLOCK}, sums, e);
    }
}

NOINLINE void products_single(real *to, const real *from, long next, const real *weights, int blocks,
                              int tiles) {
    const Extent e = {ROWS, ROWS, LANES};
    for (int t = 0; t < tiles; t += 2 * ROWS, from += 2 * ROWS * BLOCK, to += 2 * ROWS * BLOCK) {
        Tile sums = {0};
        for (int b = 0; b < blocks; b++) {
            const real *x = from + b * next, *w = weights + b * (BLOCK * LANES);
            tile_multiply(&sums, BLOCK, (Scalars){x, x + ROWS * BLOCK, BLOCK, 1},
                          (Weights){w, w, LANES, LANES}, e);
        }
        tile_store(1, to, (Spot){0, ROWS * BLOCK, BLOCK}, sums, e);
    }
}

/* ---- back -------------------------------------------------------------------------------------------- */

/* What becomes of sums: y = sum + bias, then max(., 0), or 0 where mask <= 0. */
typedef struct {
    Vector bias;
    int relu;
    const stored *mask; /* NULL: none */
    long mask_row;
} Finish;

INLINE void point_store(stored *y, Vector v, const Finish *f, const stored *mask) {
    v += f->bias;
    if (f->relu)
        v = vector_relu(v);
    if (mask)
        v = vector_mask(v, load(mask));
    store(y, v);
}

/* Maps the columns of a tile, then its rows; of its points only `rows` by `columns` are there. */
NOINLINE void output_map(const real *from, long frequency, stored *y, long row, int rows, int columns,
                         const Finish *f) {
    _Alignas(64) real mapped[MET * TILE * LANES];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < TILE; c++) /* the lines of the next tile come while this one is computed */
            __builtin_prefetch(y + r * row + (TILE + c) * BLOCK, 1);
    for (int j = 0; j < MET; j++) {
        const Four points = output_points(six_load(from + j * frequency, MET * frequency));
        real *to = mapped + j * LANES;
        store_real(to, points.v0);
        store_real(to + MET * LANES, points.v1);
        store_real(to + 2 * MET * LANES, points.v2);
        store_real(to + 3 * MET * LANES, points.v3);
    }
    for (int r = 0; r < rows; r++, y += row) {
        const Four points = output_points(six_load(mapped + r * MET * LANES, LANES));
        const stored *mask = f->mask ? f->mask + r * f->mask_row : NULL;
        point_store(y, points.v0, f, mask);
        if (columns > 1)
            point_store(y + BLOCK, points.v1, f, mask ? mask + BLOCK : NULL);
        if (columns > 2)
            point_store(y + 2 * BLOCK, points.v2, f, mask ? mask + 2 * BLOCK : NULL);
        if (columns > 3)
            point_store(y + 3 * BLOCK, points.v3, f, mask ? mask + 3 * BLOCK : NULL);
    }
}

/* ---- a convolution ----------------------------------------------------------------------------------- */

/* A convolution with a 3x3 window, or the gradient of one by its input, which is another. */
typedef struct {
    const stored *const *x; /* segments, */
    const Layout *from;     /*   and how they lie */
    int segments;
    const real *weights; /* as weights_map() left them */
    const real *bias;    /* NULL: none */
    const stored *mask;  /* NULL: none */
    const Layout *to, *mask_layout;
    stored *y;
    int relu, channels; /* of y */
    Grid grid;          /* of y */
    int samples, top, left;
} Winograd;

/* Tiles that a block holds, of at most `most`: whole tiles of registers. */
INLINE int block_tiles(int most) {
    return most / (2 * ROWS) * (2 * ROWS);
}

INLINE int channel_blocks(const Winograd *c) {
    int blocks = 0;
    for (int s = 0; s < c->segments; s++)
        blocks += c->from[s].blocks;
    return blocks;
}

/* Block `number` of all segments. */
INLINE void channels_map(const Winograd *c, int number, int first, int end, real *to, long frequency) {
    int s = 0;
    for (; number >= c->from[s].blocks; s++)
        number -= c->from[s].blocks;
    block_map(c->x[s], &c->from[s], number, c->grid, c->top, c->left, first, end, to, frequency);
}

/* The sums of vectors v and, if there is one, v + 1 of channels at a frequency. */
INLINE void frequency_products(const Winograd *c, int frequency, int v, real *to, const real *from,
                               Strides in, int blocks, int tiles) {
    const int all = c->to->blocks * PARTS;
    const long depth = (long)blocks * BLOCK;
    const real *weights = c->weights + frequency * weights_stride(depth, all) + v * LANES * depth;
    to += v % PARTS * LANES;
    if (v + 1 < all)
        products_pair(to, PARTS > 1 ? LANES : in.block, from + frequency * in.frequency, in.block, weights,
                      blocks, tiles);
    else
        products_single(to, from + frequency * in.frequency, in.block, weights, blocks, tiles);
}

/* Stores vector v of the tiles [first, end), the first of which is the first at `from`. */
UNUSED static void vector_finish(const Winograd *c, int v, int first, int end, const real *from,
                                 long frequency) {
    Finish f = {.bias = c->bias ? bias_vector(c->bias, c->channels, v) : (Vector){0}, .relu = c->relu};
    for (int tile = first; tile < end; tile++, from += BLOCK) {
        const Point at = run_from(c->grid, tile, 1).at;
        if (c->mask) {
            f.mask = c->mask + vector_at(c->mask_layout, v, at);
            f.mask_row = c->mask_layout->row;
        }
        output_map(from, frequency, c->y + vector_at(c->to, v, at), c->to->row,
                   min_int(TILE, c->grid.height - at.h), c->grid.width - at.w, &f);
    }
}

/* Each thread computes blocks of its own, in a slot of `scratch` of its own, small enough for its cache:
 * for layers of many tiles and few channels. */
UNUSED static void winograd_blocks(const Winograd *c, real *scratch, int most) {
    const int blocks = channel_blocks(c), size = block_tiles(most), tiles = c->samples * tiles_of(c->grid);
    const Strides in = frequency_strides(most, blocks),
                  out = frequency_strides(most, min_int(2, c->to->blocks));
    real *from = scratch + omp_get_thread_num() * FREQUENCIES * (in.frequency + out.frequency);
    real *to = from + FREQUENCIES * in.frequency;
#pragma omp for schedule(static)
    for (int first = 0; first < tiles; first += size) {
        const int end = min_int(first + size, tiles);
        for (int b = 0; b < blocks; b++)
            channels_map(c, b, first, end, from + b * in.block, in.frequency);
        for (int v = 0; v < vectors(c->to); v += 2) {
            for (int f = 0; f < FREQUENCIES; f++)
                frequency_products(c, f, v, to + f * out.frequency, from, in, blocks, size);
            for (int k = v; k < min_int(v + 2, vectors(c->to)); k++)
                vector_finish(c, k, first, end,
                              to + (k / PARTS - v / PARTS) * out.block + k % PARTS * LANES, out.frequency);
        }
    }
}

/* All threads compute one block after the other: for layers of few tiles and many channels. */
UNUSED static void winograd_groups(const Winograd *c, real *scratch, int most) {
    const int blocks = channel_blocks(c), size = block_tiles(most), tiles = c->samples * tiles_of(c->grid);
    const Strides in = frequency_strides(most, blocks), out = frequency_strides(most, c->to->blocks);
    real *to = scratch + FREQUENCIES * in.frequency;
    for (int first = 0; first < tiles; first += size) {
        const int end = min_int(first + size, tiles);
#pragma omp for collapse(2) schedule(static)
        for (int b = 0; b < blocks; b++)
            for (int t = first; t < end; t += RUN)
                channels_map(c, b, t, min_int(t + RUN, end), scratch + b * in.block + (t - first) * BLOCK,
                             in.frequency);
#pragma omp for collapse(2) schedule(static)
        for (int f = 0; f < FREQUENCIES; f++)
            for (int v = 0; v < vectors(c->to); v += 2)
                frequency_products(c, f, v, to + f * out.frequency + v / PARTS * out.block, scratch, in,
                                   blocks, size);
#pragma omp for collapse(2) schedule(static)
        for (int v = 0; v < vectors(c->to); v++)
            for (int t = first; t < end; t += RUN)
                vector_finish(c, v, t, min_int(t + RUN, end),
                              to + v / PARTS * out.block + v % PARTS * LANES + (t - first) * BLOCK,
                              out.frequency);
    }
}
/* ---- weights ----------------------------------------------------------------------------------------- */

/* Where the weights of a channel and of LANES others that are summed, or the other way round, lie among
 * dense ones [CO][CI][3][3]. */
typedef struct {
    const real *w;
    long lane, channel;  /* from one to the next; */
    int lanes, channels; /* so many are there, the others count as zero; */
    int flipped;         /* the windows of a gradient run backwards */
} Dense;

INLINE Vector dense_tap(Dense from, int first, int channel, int tap) {
    Vector v = {0};
    const real *w = from.w + first * from.lane + channel * from.channel + (from.flipped ? 8 - tap : tap);
    for (int i = 0; i < LANES; i++)
        v[i] = channel < from.channels && first + i < from.lanes ? w[i * from.lane] : 0;
    return rounded(v);
}

/* The frequencies of `count` channels, with vector v of others, whose places are `step` and `frequency`
 * apart. */
NOINLINE void weights_map(real *to, long step, long frequency, Dense from, int v, int channel, int count) {
    for (int c = channel; c < channel + count; c++, to += step) {
        _Alignas(64) real mapped[3 * MET * LANES];
        for (int k = 0; k < 3; k++)
            six_store(mapped + k * LANES, 3 * LANES,
                      weight_frequencies((Three){dense_tap(from, v * LANES, c, k),
                                                 dense_tap(from, v * LANES, c, 3 + k),
                                                 dense_tap(from, v * LANES, c, 6 + k)}));
        for (int i = 0; i < MET; i++) {
            const real *row = mapped + i * 3 * LANES;
            six_store(to + i * MET * frequency, frequency,
                      weight_frequencies(
                          (Three){load_real(row), load_real(row + LANES), load_real(row + 2 * LANES)}));
        }
    }
}

/* Weights between `all` vectors and the channels of segments, as [frequency][pair of vectors][channel]
 * [vector of the pair][lane]. */
UNUSED static void winograd_weights(real *packed, Dense from, int all, const Layout *x, int segments) {
    const long depth = stored_channels(x, segments);
#pragma omp for schedule(static)
    for (int v = 0; v < all; v++) {
        const int width = (v | 1) < all ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        Dense segment = from;
        for (int s = 0; s < segments; s++) {
            segment.channels = x[s].channels;
            weights_map(to, width, weights_stride(depth, all), segment, v, 0, x[s].blocks * BLOCK);
            segment.w += x[s].channels * from.channel;
            to += (long)x[s].blocks * BLOCK * width;
        }
    }
}

/* ---- gradients of weights ---------------------------------------------------------------------------- */

/* The frequencies of a tile of dy, of which `rows` by `columns` points are there, and, as one more, their
 * sum, which is the gradient of the bias. */
NOINLINE void gradient_map(const stored *dy, long row, int rows, int columns, real *to, long frequency) {
    _Alignas(64) real mapped[TILE * MET * LANES];
    const SixRows points = six_rows(dy, row, min_int(rows, TILE));
    Vector sum = {0};
    for (int c = 0; c < TILE; c++) {
        Four y = {{0}, {0}, {0}, {0}};
        if (c < columns)
            y = (Four){load(points.v0 + c * BLOCK), load(points.v1 + c * BLOCK),
                       load(points.v2 + c * BLOCK), load(points.v3 + c * BLOCK)};
        sum += (y.v0 + y.v1) + (y.v2 + y.v3);
        six_store(mapped + c * MET * LANES, LANES, output_frequencies(y));
    }
    for (int i = 0; i < MET; i++) {
        const real *at = mapped + i * LANES;
        six_store(
            to + i * MET * frequency, frequency,
            output_frequencies((Four){load_real(at), load_real(at + MET * LANES),
                                      load_real(at + 2 * MET * LANES), load_real(at + 3 * MET * LANES)}));
    }
    store_real(to + FREQUENCIES * frequency, sum);
}

/* Sums over tiles of products of BLOCK channels of x with two vectors of dy, or with one. */
INLINE void gradient_products(real *sums, const real *x, const real *dy, long pair, int tiles, int fresh,
                              int side_by_side) {
    const int width = side_by_side ? 2 * LANES : LANES, rows = tile_rows(side_by_side);
    for (int c = 0; c < BLOCK; c += rows) {
        const int here = c + rows <= BLOCK ? rows : BLOCK % rows;
        const Extent e = extent(here, side_by_side, LANES);
        const Spot at = {c * width, c * width + (side_by_side ? LANES : ROWS * width), width};
        Tile t = fresh ? (Tile){0} : tile_load(1, sums, at, e);
        tile_multiply(&t, tiles, (Scalars){x + c, side_by_side ? x + c : x + c + ROWS, 1, BLOCK},
                      (Weights){dy, dy + pair, BLOCK, LANES}, e);
        tile_store(1, sums, at, t, e);
    }
}

NOINLINE void gradient_products_pair(real *sums, const real *x, const real *dy, long pair, int tiles,
                                     int fresh) {
    gradient_products(sums, x, dy, pair, tiles, fresh, 1);
}

NOINLINE void gradient_products_single(real *sums, const real *x, const real *dy, int tiles, int fresh) {
    gradient_products(sums, x, dy, 0, tiles, fresh, 0);
}

/* The sum over tiles of vector v of dy. */
INLINE Vector gradient_of_bias(const real *dy, int tiles, Vector sum) {
    for (int t = 0; t < tiles; t++)
        sum += load_real(dy + t * BLOCK);
    return sum;
}

/* Back from frequencies: the 9 taps of a channel with a vector of others. */
NOINLINE void gradient_finish(real *total, const real *sums, long frequency, int add) {
    _Alignas(64) real mapped[3 * MET * LANES];
    for (int j = 0; j < MET; j++) {
        const Three w = weight_gradients(six_load(sums + j * frequency, MET * frequency));
        store_real(mapped + j * LANES, w.v0);
        store_real(mapped + (MET + j) * LANES, w.v1);
        store_real(mapped + (2 * MET + j) * LANES, w.v2);
    }
    for (int k = 0; k < 3; k++, total += 3 * LANES) {
        const Three w = weight_gradients(six_load(mapped + k * MET * LANES, LANES));
        const Vector none = {0};
        store_real(total, (add ? load_real(total) : none) + w.v0);
        store_real(total + LANES, (add ? load_real(total + LANES) : none) + w.v1);
        store_real(total + 2 * LANES, (add ? load_real(total + 2 * LANES) : none) + w.v2);
    }
}

/* The gradients of one sample at a time. Each sum runs over the tiles in order, in one thread: frequencies
 * and channels are what threads share out. */
typedef struct {
    const stored *const *x;
    const stored *dy;
    const Layout *from, *to; /* of x, of dy */
    int segments, blocks;    /* blocks of channels of x */
    Grid grid;
    int top, left, bias;
    real *in, *out;     /* frequencies of a block of tiles of x, of dy, */
    real *sums, *total; /* their products; see weights_spread() */
} Gradients;

/* The frequencies of the tiles [first, end). */
UNUSED static void gradients_map(const Gradients *g, int first, int end, Strides in, Strides out) {
    const Winograd c = {.x = g->x, .from = g->from, .grid = g->grid, .top = g->top, .left = g->left};
#pragma omp for collapse(2) schedule(static) nowait
    for (int b = 0; b < g->blocks; b++)
        for (int t = first; t < end; t += RUN)
            channels_map(&c, b, t, min_int(t + RUN, end), g->in + b * in.block + (t - first) * BLOCK,
                         in.frequency);
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < vectors(g->to); v++)
        for (int t = first; t < end; t++) {
            const Point at = run_from(g->grid, t, 1).at;
            gradient_map(g->dy + vector_at(g->to, v, at), g->to->row, min_int(TILE, g->grid.height - at.h),
                         g->grid.width - at.w,
                         g->out + v / PARTS * out.block + v % PARTS * LANES + (t - first) * BLOCK,
                         out.frequency);
        }
}

UNUSED static void gradients_multiply(const Gradients *g, int tiles, int fresh, Strides in, Strides out) {
    const int all = vectors(g->to);
    const long depth = (long)g->blocks * BLOCK;
#pragma omp for collapse(3) schedule(static) nowait
    for (int f = 0; f < FREQUENCIES; f++)
        for (int v = 0; v < all; v += 2)
            for (int b = 0; b < g->blocks; b++) {
                const int pair = v + 1 < all;
                const real *x = g->in + f * in.frequency + b * in.block;
                const real *dy = g->out + f * out.frequency + v / PARTS * out.block + v % PARTS * LANES;
                real *sums = g->sums + f * weights_stride(depth, all) + v * LANES * depth +
                             (long)b * BLOCK * (pair ? 2 * LANES : LANES);
                if (pair)
                    gradient_products_pair(sums, x, dy, PARTS > 1 ? LANES : out.block, tiles, fresh);
                else
                    gradient_products_single(sums, x, dy, tiles, fresh);
            }
#pragma omp for schedule(static)
    for (int v = 0; v < all * g->bias; v++) {
        const real *dy = g->out + FREQUENCIES * out.frequency + v / PARTS * out.block + v % PARTS * LANES;
        real *sum = g->sums + FREQUENCIES * weights_stride(depth, all) + v * LANES;
        store_real(sum, gradient_of_bias(dy, tiles, fresh ? (Vector){0} : load_real(sum)));
    }
}

UNUSED static void gradients_finish(const Gradients *g, int add) {
    const int all = vectors(g->to);
    const long depth = (long)g->blocks * BLOCK, rows = depth * 9 + g->bias;
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < all; v++)
        for (long c = 0; c < depth; c++) {
            const int width = (v | 1) < all ? 2 * LANES : LANES;
            gradient_finish(g->total + (v * rows + c * 9) * LANES,
                            g->sums + (v & ~1) * LANES * depth + c * width + (v & 1) * LANES,
                            weights_stride(depth, all), add);
        }
#pragma omp for schedule(static)
    for (int v = 0; v < all * g->bias; v++) {
        real *to = g->total + ((v + 1) * rows - 1) * LANES;
        const Vector sum = load_real(g->sums + FREQUENCIES * weights_stride(depth, all) + v * LANES);
        store_real(to, (add ? load_real(to) : (Vector){0}) + sum);
    }
}

/* Adds the gradients of sample i, in blocks of at most `most` tiles. */
UNUSED static void winograd_gradients(const Gradients *g, int i, int most, int add) {
    const Strides in = frequency_strides(most, g->blocks), out = frequency_strides(most, g->to->blocks);
    const int tiles = tiles_of(g->grid), begin = i * tiles;
    for (int first = 0; first < tiles; first += most) {
        const int end = min_int(first + most, tiles);
        gradients_map(g, begin + first, begin + end, in, out);
        gradients_multiply(g, end - first, first == 0, in, out);
    }
    gradients_finish(g, add);
}
