/* winograd_gradients.c - what the kernel for gradients of weights by Winograd's method adds to winograd.c:
 * the points of x and of dy go to the frequencies, where a gradient is a sum of products over the tiles. */
#include "winograd.c"

/* BEGIN */
/* Maps the columns of a tile of dy, which begins at element `at` of its rows; only `columns` are there.
 * Returns the sum of its points. */
INLINE Vector gradient_columns(const stored *const *dy, int at, int columns, real *mapped) {
    Vector sum = {0};
    for (int c = 0; c < TILE; c++, at += BLOCK) {
        Four y = {{0}, {0}, {0}, {0}};
        if (c < columns)
            y = (Four){load(dy[0] + at), load(dy[1] + at), load(dy[2] + at), load(dy[3] + at)};
        sum += (y.v0 + y.v1) + (y.v2 + y.v3);
        six_store(mapped + c * MET * LANES, LANES, output_frequencies(y));
    }
    return sum;
}

/* The frequencies of a tile of dy or of a pair of them, and the sum of each, which is its share of the
 * gradient of the bias. */
NOINLINE void gradient_map(const stored *const *dy, int columns, Frequency *to, long frequency,
                           real *of_tile) {
    _Alignas(64) real mapped[PAIR * TILE * MET * LANES];
    for (int k = 0; k < PAIR; k++)
        store_real(of_tile + k * BLOCK, gradient_columns(dy, k * TILE * BLOCK, columns - k * TILE,
                                                         mapped + k * TILE * MET * LANES));
    for (int i = 0; i < MET; i++) {
        const real *at = mapped + i * LANES, *next = at + (PAIR - 1) * TILE * MET * LANES;
        frequencies_store(to + i * MET * frequency, frequency,
                          output_frequencies(four_load(at, MET * LANES)),
                          output_frequencies(four_load(next, MET * LANES)), PAIR > 1);
    }
}

/* How sums over a block of tiles join the sums of the tiles before: there are none; one after the other is
 * added to these; a sum over the block is added to these. */
enum { ALONE, ONE_BY_ONE, AT_ONCE };

INLINE Tile tile_sum(Tile s, Tile t) {
#define ADD(r) s.a.v##r += t.a.v##r, s.b.v##r += t.b.v##r;
    EACH_ROW(ADD)
#undef ADD
    return s;
}

/* Sums over tiles of products of BLOCK channels of x with two vectors of dy, or with one. */
INLINE void gradient_products(real *sums, const Frequency *x, const Frequency *dy, long pair, int tiles,
                              int join, int side_by_side) {
    const int width = side_by_side ? 2 * LANES : LANES, rows = tile_rows(side_by_side);
    for (int c = 0; c < BLOCK; c += rows) {
        const int here = c + rows <= BLOCK ? rows : BLOCK % rows;
        const Extent e = extent(here, side_by_side, LANES);
        const Spot at = {c * width, c * width + (side_by_side ? LANES : ROWS * width), width};
        const Frequency *first = x + c * PAIR;
        Tile t = join == ONE_BY_ONE ? tile_load(1, sums, at, e) : (Tile){0};
        tile_products(&t, tiles / PAIR, first, side_by_side ? first : first + ROWS * PAIR, PAIR,
                      PAIR * BLOCK, dy, dy + pair, PAIR * BLOCK, e);
        if (join == AT_ONCE)
            t = tile_sum(tile_load(1, sums, at, e), t);
        tile_store(1, sums, at, t, e);
    }
}

NOINLINE void gradient_products_pair(real *sums, const Frequency *x, const Frequency *dy, long pair,
                                     int tiles, int join) {
    gradient_products(sums, x, dy, pair, tiles, join, 1);
}

NOINLINE void gradient_products_single(real *sums, const Frequency *x, const Frequency *dy, int tiles,
                                       int join) {
    gradient_products(sums, x, dy, 0, tiles, join, 0);
}

/* A sum over tiles, joined likewise. */
INLINE Vector gradient_of_bias(const real *of_tile, int tiles, int join, const real *before) {
    Vector sum = join == ONE_BY_ONE ? load_real(before) : (Vector){0};
    for (int t = 0; t < tiles; t++)
        sum += load_real(of_tile + t * BLOCK);
    return join == AT_ONCE ? load_real(before) + sum : sum;
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
    int blocks, bias;        /* blocks of channels of x; is there a bias? */
    Grid grid;
    WindowStart window;
    int taps, front, planes; /* as of Winograd */
    Strides in_strides, out_strides;
    Frequency *in, *out; /* of a block of tiles of x, of dy, */
    real *tile_sums;     /*   and the sum of each tile of dy */
    real *sums, *total;  /* their products; see weights_spread() */
} Gradients;

/* Elements that the sums of a sample take, of windows of so many planes. */
INLINE long frequency_sums(int blocks, int planes, const Layout *to, int bias) {
    const int all = vectors(to);
    return FREQUENCIES * weights_stride((long)planes * blocks * BLOCK, all, SUM_GAP) + bias * all * LANES;
}

INLINE int gradient_planes(const Gradients *g) {
    return max_int(1, g->taps);
}

/* Tiles of a gradient of weights: an even number in a row where they lie in pairs. */
INLINE Grid paired_grid(int depth, int height, int width, int phase, Rows rows) {
    Grid g = grid(depth, height, width, phase, rows);
    g.columns = (g.columns + PAIR - 1) / PAIR * PAIR;
    return g;
}

/* The frequencies of tile t of vector v of dy, or of the pair that it begins, as number `place` of a block.
 */
INLINE void tile_of_gradient(const Gradients *g, int v, long t, long place) {
    const Strides out = g->out_strides;
    const long to = v / PARTS * out.block + v % PARTS * LANES + place * BLOCK;
    const Point at = run_from(g->grid, t, 1).at, column = {at.n, at.d, 0, at.w};
    const stored *rows[TILE];
    rows_find(rows, TILE, g->dy + vector_at(g->to, v, column), g->to, at.h, g->grid.height);
    gradient_map(rows, g->grid.width - at.w, g->out + to, out.frequency, g->tile_sums + to);
}

/* The frequencies of the tiles [first, end). */
UNUSED static void gradients_map(const Gradients *g, long first, long end) {
    const Strides in = g->in_strides;
    const Winograd c = {.x = g->x, .from = g->from, .grid = g->grid, .window = g->window};
#pragma omp for collapse(2) schedule(static) nowait
    for (int b = 0; b < g->blocks; b++)
        for (long t = first; t < end; t += RUN)
            channels_map(&c, c.grid, b, t, min_long(t + RUN, end),
                         g->in + b * in.block + (t - first) * BLOCK, in.frequency, 1);
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < vectors(g->to); v++)
        for (long t = first; t < end; t += PAIR)
            tile_of_gradient(g, v, t, t - first);
}

/* `tap`: the distance in elements of each tap from the first. */
UNUSED static void gradients_multiply(const Gradients *g, const long *tap, int tiles, int join) {
    const Strides in = g->in_strides, out = g->out_strides;
    const int all = vectors(g->to), taps = gradient_planes(g);
    const long depth = (long)taps * g->blocks * BLOCK;
#pragma omp for collapse(3) schedule(static) nowait
    for (int f = 0; f < FREQUENCIES; f++)
        for (int v = 0; v < all; v += 2)
            for (int b = 0; b < taps * g->blocks; b++) {
                const int pair = v + 1 < all;
                const Frequency *x =
                    g->in + f * in.frequency + b % g->blocks * in.block + tap[b / g->blocks];
                const Frequency *dy =
                    g->out + f * out.frequency + v / PARTS * out.block + v % PARTS * LANES;
                real *sums = g->sums + f * weights_stride(depth, all, SUM_GAP) + v * LANES * depth +
                             (long)b * BLOCK * (pair ? 2 * LANES : LANES);
                if (pair)
                    gradient_products_pair(sums, x, dy, PARTS > 1 ? LANES : out.block, tiles, join);
                else
                    gradient_products_single(sums, x, dy, tiles, join);
            }
#pragma omp for schedule(static)
    for (int v = 0; v < all * g->bias; v++) {
        const real *of_tile = g->tile_sums + v / PARTS * out.block + v % PARTS * LANES;
        real *sum = g->sums + FREQUENCIES * weights_stride(depth, all, SUM_GAP) + v * LANES;
        store_real(sum, gradient_of_bias(of_tile, tiles, join, sum));
    }
}

/* Takes the sums of a sample back; `add`: to the gradients of the samples before. */
UNUSED static void gradients_finish(const Gradients *g, int add) {
    const int all = vectors(g->to), taps = gradient_planes(g);
    const long channels = (long)g->blocks * BLOCK, depth = taps * channels, rows = depth * 9 + g->bias;
#pragma omp for collapse(2) schedule(static)
    for (int v = 0; v < all; v++)
        for (long c = 0; c < depth; c++) {
            const int width = (v | 1) < all ? 2 * LANES : LANES;
            const long tap = c % channels * taps + c / channels; /* 9 of them each */
            gradient_finish(g->total + (v * rows + tap * 9) * LANES,
                            g->sums + (v & ~1) * LANES * depth + c * width + (v & 1) * LANES,
                            weights_stride(depth, all, SUM_GAP), add);
        }
#pragma omp for schedule(static)
    for (int v = 0; v < all * g->bias; v++) {
        real *to = g->total + ((v + 1) * rows - 1) * LANES;
        const Vector sum =
            load_real(g->sums + FREQUENCIES * weights_stride(depth, all, SUM_GAP) + v * LANES);
        store_real(to, (add ? load_real(to) : (Vector){0}) + sum);
    }
}

enum { LONGEST_CHAIN = 1024 }; /* of sums, one after the other */

/* Sums over the tiles of a range of sample i, in blocks of at most `most`, to those before in the sample.
 *
 * A longer chain of sums loses its last bits: at 512x512 points the error is 1e-5, by blocks it is 1e-6
 * (tests/kernels/errors.c). Such a block lies within a tile row, so that it is the same in every range. */
UNUSED static void winograd_gradients(const Gradients *g, int i, int most) {
    const int columns = g->grid.columns, all = g->grid.depth * tiles_along(g->grid.height + g->grid.phase);
    const int join = (long)all * columns > LONGEST_CHAIN ? AT_ONCE : ONE_BY_ONE;
    const long tiles = tiles_of(g->grid), begin = i * tiles;
    for (long first = 0, end; first < tiles; first = end) {
        end = min_long(first + most, join == AT_ONCE ? (first / columns + 1) * columns : tiles);
        gradients_map(g, begin + first, begin + end);
        gradients_multiply(g, no_depth, (int)(end - first), g->grid.first + first == 0 ? ALONE : join);
    }
}
/* END */
