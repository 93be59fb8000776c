/* prologue.c - what stands at the head of every generated program for the CPU: how tensors lie
 * in memory, and the register tile from which all convolutions are made. Types and vectors stand in
 * types.c, tensors of 16 and of 32 bits in stored_16.c and stored_32.c, products in products.c.
 *
 * Every convolution, its gradients and the transposed ones are sums of products  tile[r][lane] += x[r] *
 * w[lane], where r runs over a few pixels (or channels) that lie at a fixed distance and the lanes are
 * channels.  A tile is two columns of registers; the caller says with constants how many rows of each are
 * in use, so that after inlining only those remain.  Two columns stand side by side (the same rows, twice
 * the channels) or one below the other (twice the rows).  Their rows have names because gcc keeps an array
 * of vectors in memory. */
#include "products.c"

/* BEGIN */
/* The numbers of arrays: `stored`, or as the loader left them: `real`, or n of n / 255 or n / 65535 in 8 or
 * 16 bits.  The loader divides in the same way if it leaves `real`. */
enum { AS_STORED, AS_REAL, IN_8_BITS, IN_16_BITS };
typedef uint8_t Bytes __attribute__((vector_size(LANES)));
typedef uint16_t Shorts __attribute__((vector_size(2 * LANES)));

NOINLINE Bytes few_bytes(const uint8_t *p, int lanes) {
    Bytes v = {0};
    for (int i = 0; i < LANES && i < lanes; i++)
        v[i] = p[i];
    return v;
}

NOINLINE Shorts few_shorts(const uint16_t *p, int lanes) {
    Shorts v = {0};
    for (int i = 0; i < LANES && i < lanes; i++)
        v[i] = p[i];
    return v;
}

/* The first `lanes` numbers of 8 bits; the others are zero. */
INLINE Vector load_bytes(const uint8_t *p, int lanes) {
    Bytes v;
    if (lanes >= LANES)
        memcpy(&v, p, sizeof v);
    else
        v = few_bytes(p, lanes);
    return __builtin_convertvector(__builtin_convertvector(v, Bits), Vector) / 255;
}

INLINE Vector load_shorts(const uint16_t *p, int lanes) {
    Shorts v;
    if (lanes >= LANES)
        memcpy(&v, p, sizeof v);
    else
        v = few_shorts(p, lanes);
    return __builtin_convertvector(__builtin_convertvector(v, Bits), Vector) / 65535;
}

/* From element `at` on of an array of one of these. */
INLINE Vector load_either(int staged, const void *p, long at, int lanes) {
    return staged == IN_8_BITS    ? load_bytes((const uint8_t *)p + at, lanes)
           : staged == IN_16_BITS ? load_shorts((const uint16_t *)p + at, lanes)
           : staged == AS_REAL    ? load_some_real((const real *)p + at, lanes)
                                  : load_some((const stored *)p + at, lanes);
}

/* The address of element i of such an array. */
INLINE const void *array_at(int staged, const void *p, long i) {
    const long bytes = staged == IN_8_BITS    ? 1
                       : staged == IN_16_BITS ? 2
                       : staged == AS_REAL    ? (long)sizeof(real)
                                              : (long)sizeof(stored);
    return (const char *)p + i * bytes;
}

INLINE void store_either(int is_real, void *p, long at, Vector v, int lanes) {
    if (is_real)
        store_some_real((real *)p + at, v, lanes);
    else
        store_some((stored *)p + at, v, lanes);
}

/* Scalars are elements that kernels broadcast, one by one and many times. They are read where they lie, or,
 * of 16 bits, from a copy in 32. */
INLINE const real *scalars_at(const stored *p, const real *copy) {
    return SIXTEEN_BITS ? copy : (const void *)p;
}

/* Makes the copy of `count` scalars. The last vector may begin in the one before it. */
INLINE const real *scalars(const stored *p, real *copy, int count) {
    if (SIXTEEN_BITS && count < LANES)
        store_some_real(copy, load_some(p, count), count);
    else if (SIXTEEN_BITS) {
        int at = 0;
        for (; at + LANES <= count; at += LANES)
            store_real(copy + at, load(p + at));
        if (at < count)
            store_real(copy + count - LANES, load(p + count - LANES));
    }
    return scalars_at(p, copy);
}

/* ---- arithmetic ------------------------------------------------------------------------------------- */

/* max(v, 0), where a NaN stays one. */
INLINE Vector vector_relu(Vector v) {
    return (Vector)((Bits)v & ~(v < 0));
}

/* v where m > 0, else 0. */
INLINE Vector vector_mask(Vector v, Vector m) {
    return (Vector)((Bits)v & (m > 0));
}

/* a where the mask is set, else b. */
INLINE Vector vector_choose(Bits mask, Vector a, Vector b) {
    return (Vector)(((Bits)a & mask) | ((Bits)b & ~mask));
}

/* The maximum of a window so far and of one point more; a NaN is more than any number. */
INLINE Vector vector_maximum(Vector best, Vector here) {
    return vector_choose((here > best) | (here != here), here, best);
}

/* v with zero in all lanes but the first `count`. */
INLINE Vector first_lanes(Vector v, int count) {
    Bits lane = {0};
    for (int i = 0; i < LANES; i++)
        lane[i] = i;
    return (Vector)((Bits)v & (lane < count));
}

/* exp(x) for x <= 0: 2^k * exp(r) with |r| <= ln(2) / 2 and a polynomial for exp(r). The relative error is
 * at most 8.5e-8, over all x. Below -87.33, where 2^k is no normal number, the result is 0; a NaN stays
 * one. */
INLINE Vector vector_exp(Vector x) {
    const Vector nearest = (Vector){0} + 0x1.8p23f; /* added and subtracted: rounds to a whole number */
    const Vector shifted = x * 0x1.715476p0f + nearest, k = shifted - nearest; /* k in the lowest bits */
    const Vector r = (x - k * 0x1.62ep-1f) - k * 0x1.0bfbe8p-15f;              /* ln(2) in two parts */
    Vector sum = (Vector){0} + 0x1.6850e4p-10f;
    sum = sum * r + 0x1.123bccp-7f;
    sum = sum * r + 0x1.555b98p-5f;
    sum = sum * r + 0x1.55548ep-3f;
    sum = sum * r + 0x1.fffff8p-2f;
    sum = (sum * r) * r + r + 1;
    const Vector power = (Vector)(((Words)shifted + 127) << 23);
    return vector_choose(x < -87.33f, (Vector){0}, sum * power);
}

/* Elements `v` of b, 0 behind its end. */
INLINE Vector bias_vector(const real *b, int count, int v) {
    return load_some_real(b + v * LANES, count - v * LANES);
}

/* A NaN stays one. */
INLINE double clamp(double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
}

/* The state of a scaled loss, as doubles: the scale; good steps since it changed; steps taken; and the
 * factor of gradients, 0 if they overflowed: then the step is not taken. */
enum { LOSS_SCALE, GOOD_STEPS, STEPS_TAKEN, UNSCALE };
/* The norm of all gradients, -1 if they overflowed, and what they are multiplied with (see UNSCALE). */
enum { GRADIENT_NORM, FACTOR };

enum {
    PIXELS = 128,  /* of a row that a gradient by weights takes at a time, at most; */
    SHORT_ROW = 63 /* of rows up to this one it takes several */
};

/* ---- points of tensors --------------------------------------------------------------------------- */

typedef struct {
    int n, d, h, w;
} Point;

/* A number of a window along depth, height and width. */
typedef struct {
    int d, h, w;
} Axes;

/* The first tap that lies so many points behind the first one, or more. */
INLINE int tap_behind(int points, int dilation) {
    return points > 0 ? (points + dilation - 1) / dilation : 0;
}

/* A kernel reads no rows of a ring above -ring. */
INLINE int place_of_row(const Layout *l, int h) {
    return l->ring > 0 ? (h + l->ring) % l->ring : h;
}

INLINE long offset_of(const Layout *l, int block, Point p) {
    return l->origin + p.n * l->sample + block * l->plane + p.d * l->depth + place_of_row(l, p.h) * l->row +
           (long)p.w * l->block;
}

/* The place between rows r - 1 and r of a block of sample n where the halo of one ends and the halo of the
 * other begins.  It is the end of a line of memory, or, between two planes and at the ends of the block, of
 * all that lies there. */
INLINE long halo_boundary(const Layout *l, int n, int block, int r, int depth, int height) {
    const long start = n * l->sample + block * l->plane;
    if (r == 0)
        return start;
    if (r == depth * height)
        return block + 1 < l->blocks ? start + l->plane : (n + 1) * l->sample;
    if (r % height == 0)
        return start + (l->origin / l->depth + r / height) * l->depth;
    return offset_of(l, block, (Point){n, r / height, r % height, 0}) - l->origin % l->row;
}

/* The halo of a tensor: its points, and the rows of a ring that lie above and below them. */
typedef struct {
    int depth, height, width, above, below;
} Halo;

/* Zeroes what lies around and between the points of some rows. Points of a row lie side by side: the halo
 * is what lies before the first row, between two rows and behind the last. */
UNUSED static void halo_zero(int n, Rows rows, stored *y, const Layout *l, Halo halo) {
    const int height = halo.height;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < l->blocks; block++)
            for (int r = rows.begin; r <= rows.end; r++) {
                const Point before = {i, (r - 1) / height, (r - 1) % height, halo.width};
                const Point here = {i, r / height, r % height, 0};
                const long from = r > rows.begin ? offset_of(l, block, before)
                                                 : halo_boundary(l, i, block, r, halo.depth, height);
                const long to = r < rows.end ? offset_of(l, block, here)
                                             : halo_boundary(l, i, block, r, halo.depth, height);
                memset(y + from, 0, (size_t)(to - from) * sizeof *y);
            }
}

/* A ring has a line of memory for each row, for rows of the halo above and below, too. */
UNUSED static void halo_zero_ring(int n, Rows rows, stored *y, const Layout *l, Halo halo) {
    const int first = rows.begin == 0 ? -halo.above : rows.begin;
    const int last = rows.end == halo.height ? halo.height + halo.below : rows.end;
    const long left = l->origin % l->row;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < l->blocks; block++)
            for (int r = first; r < last; r++) {
                stored *line = y + offset_of(l, block, (Point){i, 0, r, 0}) - left;
                const long points = r >= 0 && r < halo.height ? (long)halo.width * l->block : 0;
                memset(line, 0, (size_t)left * sizeof *y);
                memset(line + left + points, 0, (size_t)(l->row - left - points) * sizeof *y);
            }
}

/* Layout of segment s; a constant if there is but one. */
INLINE const Layout *segment(const Layout *x, int segments, int s) {
    return &x[segments > 1 ? s : 0];
}

/* Channels of all segments, with channels that pad a block. */
INLINE int stored_channels(const Layout *x, int segments) {
    int channels = 0;
    for (int s = 0; s < segments; s++)
        channels += x[s].blocks * x[s].block;
    return channels;
}

/* A tensor as vectors of channels: an image of 1 to 4 is one vector, and only that many lanes are
 * stored. */
INLINE int vectors(const Layout *l) {
    return l->block == BLOCK ? l->blocks * PARTS : 1;
}

INLINE int lanes(const Layout *l, int v) {
    return l->block == BLOCK ? LANES : v == 0 ? l->block : 0;
}

/* Vectors of a tensor of so many channels, which is narrow as images are or has whole blocks; is there one
 * beside vector v of a tensor, which is even, if LIKE is a number of channels with as many pairs: none, all
 * or all but the last?  And how a tensor of one segment is blocked.  They are constants, so that compilers
 * drop code at once that is never called. */
enum { NARROW = 4 };
#define VECTORS(channels) ((int)(channels) <= (int)NARROW ? 1 : ((channels) + BLOCK - 1) / BLOCK * PARTS)
#define HAS_PAIR(like, layout, v)                                                                          \
    (VECTORS(like) > 1 && (VECTORS(like) % 2 == 0 || (v) + 1 < vectors(layout)))
#define BLOCK_OF(channels) ((int)(channels) <= (int)NARROW ? (int)(channels) : (int)BLOCK)

INLINE long vector_at(const Layout *l, int v, Point p) {
    return offset_of(l, v / PARTS, p) + v % PARTS * LANES;
}

/* The position of the window whose tap falls on the point, or -1. */
INLINE int window_at(int point, int tap, int stride, int padding, int positions) {
    int scaled = point + padding - tap;
    return scaled >= 0 && scaled % stride == 0 && scaled / stride < positions ? scaled / stride : -1;
}

/* Points of a dense grid belong to positions of the window that slides over it: a position has the points
 * from its first one to the first of the next, and the first and the last also have the points at the ends.
 */
INLINE Rows points_of(int position, int positions, int stride, int padding, int extent) {
    const int begin = position * stride - padding;
    return (Rows){position == 0 ? 0 : (int)clamp(begin, 0, extent),
                  position == positions - 1 ? extent : (int)clamp(begin + stride, 0, extent)};
}

/* ---- the register tile --------------------------------------------------------------------------- */

typedef struct {
    Vector v0, v1, v2, v3, v4, v5, v6, v7;
} Column;

typedef struct {
    Column a, b;
} Tile;

/* How much of a tile is in use: rows of each column, lanes of each row. */
typedef struct {
    int a, b, lanes;
} Extent;

/* Side by side, both columns have all rows; else b takes the rows that are too many for a. */
INLINE Extent extent(int rows, int side_by_side, int lanes_used) {
    return side_by_side ? (Extent){rows, rows, lanes_used}
                        : (Extent){min_int(rows, ROWS), max_int(rows - ROWS, 0), lanes_used};
}

INLINE int tile_rows(int side_by_side) {
    return side_by_side ? ROWS : 2 * ROWS;
}

/* Points of a row that tiles of so many leave over.  If none are, whichever of the two numbers of rows
 * tiles have, compilers know it at once. */
#define LEFT_OVER(points, rows) ((points) % (2 * ROWS) > 0 ? (points) % (rows) : 0)

/* The place of a tile in a tensor: the offsets of its columns and the distance of its rows, which are the
 * points p, p + stride, p + 2 stride, ... along the width; columns side by side are vectors v and v + 1. */
typedef struct {
    long a, b, row;
} Spot;

INLINE Spot spot(const Layout *l, int v, Point p, int stride, int side_by_side) {
    long a = vector_at(l, v, p), row = (long)stride * l->block;
    return (Spot){a, side_by_side ? vector_at(l, v + 1, p) : a + ROWS * row, row};
}

/* The same that many points on. */
INLINE Spot spot_behind(Spot s, const Layout *l, int points) {
    return (Spot){s.a + (long)points * l->block, s.b + (long)points * l->block, s.row};
}

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

INLINE Column column_fill(Vector v) {
    return (Column){v, v, v, v, v, v, v, v};
}

/* The sums of each column of a tile begin with one of these. */
typedef struct {
    Vector a, b;
} Start;

/* The bias of vectors v and, side by side, v + 1, or, where b is NULL, zero. */
INLINE Start start_of(const real *b, int count, int v, int side_by_side) {
    return b == NULL ? (Start){{0}, {0}}
                     : (Start){bias_vector(b, count, v), bias_vector(b, count, v + side_by_side)};
}

INLINE Tile tile_start(Start s) {
    return (Tile){column_fill(s.a), column_fill(s.b)};
}

INLINE Tile tile_load(int is_real, const void *p, Spot at, Extent e) {
    Tile t = {0};
#define LOAD(r)                                                                                            \
    if (e.a > r)                                                                                           \
        t.a.v##r = load_either(is_real, p, at.a + r * at.row, e.lanes);                                    \
    if (e.b > r)                                                                                           \
        t.b.v##r = load_either(is_real, p, at.b + r * at.row, e.lanes);
    EACH_ROW(LOAD)
#undef LOAD
    return t;
}

INLINE void tile_store(int is_real, void *p, Spot at, Tile t, Extent e) {
#define STORE(r)                                                                                           \
    if (e.a > r)                                                                                           \
        store_either(is_real, p, at.a + r * at.row, t.a.v##r, e.lanes);                                    \
    if (e.b > r)                                                                                           \
        store_either(is_real, p, at.b + r * at.row, t.b.v##r, e.lanes);
    EACH_ROW(STORE)
#undef STORE
}

INLINE Tile tile_relu(Tile t) {
#define POSITIVE(r) t.a.v##r = vector_relu(t.a.v##r), t.b.v##r = vector_relu(t.b.v##r);
    EACH_ROW(POSITIVE)
#undef POSITIVE
    return t;
}

INLINE Tile tile_mask(Tile t, Tile m) {
#define PASS(r) t.a.v##r = vector_mask(t.a.v##r, m.a.v##r), t.b.v##r = vector_mask(t.b.v##r, m.b.v##r);
    EACH_ROW(PASS)
#undef PASS
    return t;
}

/* The operand whose slots are broadcast: column a starts at a, b at b; `row` apart; the next in depth
 * follows after `next`. */
typedef struct {
    const real *a, *b;
    long row, next;
} Scalars;

/* The operand of vectors: for column a, and for column b. */
typedef struct {
    const real *a, *b;
    long next;
    int lanes;
} Weights;

/* tile += sum over k of x[row, k] * w[k, lane]: all the arithmetic of convolutions.  If clang unrolls the
 * loop whole, it moves loads and sums about until registers run out. */
INLINE void tile_multiply(Tile *t, Product *add, int depth, Scalars x, Weights w, Extent e) {
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
    for (int k = 0; k < depth; k++) {
        Vector wa = load_some_real(w.a + k * w.next, w.lanes),
               wb = load_some_real(w.b + k * w.next, w.lanes);
#define MULTIPLY(r)                                                                                        \
    if (e.a > r)                                                                                           \
        t->a.v##r = add(t->a.v##r, x.a + k * x.next + r * x.row, wa);                                      \
    if (e.b > r)                                                                                           \
        t->b.v##r = add(t->b.v##r, x.b + k * x.next + r * x.row, wb);
        EACH_ROW(MULTIPLY)
#undef MULTIPLY
    }
}

/* The scalars of neighbouring rows of a tile, `row` apart. */
INLINE Scalars scalars_of(const real *first, long row, int side_by_side) {
    return (Scalars){first, side_by_side ? first : first + ROWS * row, row, 1};
}

INLINE Weights weights_of(const real *w, int side_by_side) {
    return side_by_side ? (Weights){w, w + LANES, 2 * LANES, LANES} : (Weights){w, w, LANES, LANES};
}

/* Has `count` elements brought into the cache: what the next tile meets, of strides which the processor
 * does not foresee. */
INLINE void prefetch(const stored *p, int count) {
    for (int at = 0; at < count; at += 64 / (int)sizeof *p)
        __builtin_prefetch(p + at);
}

/* The row of taps of a window, along the width. */
typedef struct {
    int count, stride, dilation;
} Taps;

/* Taps of a row whose factors stand side by side in slots: of an image in pairs all, if that can be. */
INLINE int taps_together(int block, Taps taps) {
    return FACTORS > 1 && taps.dilation == 1 && taps.count * block < BLOCK ? taps.count : 1;
}

/* Slots of the weights of a row of taps. */
INLINE int slots_of_row(int block, Taps taps) {
    const int together = taps_together(block, taps);
    return taps.count / together * slots(together * block);
}

/* The pairs that the rows of a tile meet: of `count` elements from p on, of the next row from p + row on.
 * Pairs of whole blocks lie there; pairs of an image are copied for each row, with zeros behind them. */
INLINE Scalars pairs_at(const stored *p, real *copy, int row, int count, int side_by_side, Extent e) {
    const int below = side_by_side ? 0 : ROWS;
    stored *to = (void *)copy;
    if (count == BLOCK)
        return scalars_of((const void *)p, row / FACTORS, side_by_side);
#define COPY(r)                                                                                            \
    if (e.a > r)                                                                                           \
        copy_some(to + r * BLOCK, p + r * row, count);                                                     \
    if (below && e.b > r)                                                                                  \
        copy_some(to + (below + r) * BLOCK, p + (below + r) * row, count);
    EACH_ROW(COPY)
#undef COPY
    return scalars_of(copy, BLOCK / FACTORS, side_by_side);
}

/* tile += what a row of taps meets in one block of x, from its first pixel on. */
INLINE void tile_slide(Tile *t, const stored *x, real *copy, const real *w, int block, Taps taps,
                       int side_by_side, Extent e) {
    const int row = taps.stride * block, together = taps_together(block, taps);
    const int depth = slots(together * block), width = side_by_side ? 2 * LANES : LANES;
    const int met =
        (e.a + (side_by_side ? 0 : e.b) - 1) * taps.stride + (taps.count - 1) * taps.dilation + 1;
    const real *pixel = FACTORS > 1 ? NULL : scalars(x, copy, met * block);
    for (int k = 0; k < taps.count; k += together, w += depth * width) {
        const int from = k * taps.dilation * block;
        tile_multiply(t, add_factors, depth,
                      FACTORS > 1 ? pairs_at(x + from, copy, row, together * block, side_by_side, e)
                                  : scalars_of(pixel + from, row, side_by_side),
                      weights_of(w, side_by_side), e);
    }
}

/* The other way round: points p of the dense grid meet the points (p + padding - k * dilation) / stride of
 * the sampled one, where that is whole. So points that are `stride` apart have the same taps, `first`,
 * `first + step`, .. `count` of them; column `column` meets pixel `at` by the first, and the next pixel
 * that it meets lies `back` before that. */
typedef struct {
    int column, first, step, count, at, back;
} Phase;

INLINE Phase phase_of(int column, Taps taps, int padding) {
    int first = 0, step = 1;
    while (first < taps.count && (column + padding - first * taps.dilation) % taps.stride != 0)
        first++;
    while (step * taps.dilation % taps.stride != 0)
        step++;
    return (Phase){.column = column,
                   .first = first,
                   .step = step,
                   .count = (taps.count - first + step - 1) / step,
                   .at = (column + padding - first * taps.dilation) / taps.stride,
                   .back = step * taps.dilation / taps.stride};
}

/* tile += the products of the row of taps with one block of x; the first tap meets pixel x. */
INLINE void tile_unslide(Tile *t, const stored *x, real *copy, const real *w, int block, Phase phase,
                         int side_by_side, Extent e) {
    const int depth = slots(block), width = side_by_side ? 2 * LANES : LANES;
    const int before = (phase.count - 1) * phase.back;
    if (phase.count == 0)
        return;
    const int met = e.a + (side_by_side ? 0 : e.b) + before;
    const real *pixel =
        FACTORS > 1 ? NULL : scalars(x - before * block, copy, met * block) + before * block;
    for (int k = 0; k < phase.count; k++) {
        const int back = k * phase.back * block, tap = phase.first + k * phase.step;
        tile_multiply(t, add_factors, depth,
                      FACTORS > 1 ? pairs_at(x - back, copy, block, block, side_by_side, e)
                                  : scalars_of(pixel - back, block, side_by_side),
                      weights_of(w + tap * depth * width, side_by_side), e);
    }
}

/* ---- packed weights ------------------------------------------------------------------------------ */

/* The order of weights that tiles want: [pair of vectors of the output][channel block of the input, tap,
 * slot of channels of the block][vector of the pair][lane][channel of the slot].  `first` is the first
 * dense weight; neighbours among `count` channels written are `written` apart, and channels read are `read`
 * apart, all in windows of `taps`.  `row`: of taps; `slides`: they take several at once, if they can. */
typedef struct {
    const Layout *from, *to; /* of each segment; of the output */
    int segments, count, slides, taps;
    long first, written, read;
    Taps row;
} Packing;

/* The weights between vector v and channel c of a segment, whose first is number `before` of all. */
INLINE Vector packed_weights(const Packing *p, const real *w, int v, const Layout *in, int before, int c,
                             int tap) {
    Vector weights = {0};
    for (int lane = 0; lane < LANES; lane++) {
        const long to = v * LANES + lane, at = p->first + to * p->written + (before + c) * p->read;
        if (to < p->count && c < in->channels)
            weights[lane] = w[at * p->taps + tap];
    }
    return weights;
}

/* The same of element e of what a tap and `together` - 1 behind it meet in a block. */
INLINE Vector packed_element(const Packing *p, const real *w, int v, const Layout *in, int before,
                             int block, int tap, int e, int together) {
    return e < together * in->block
               ? packed_weights(p, w, v, in, before, block * in->block + e % in->block, tap + e / in->block)
               : (Vector){0};
}

#ifdef MATRICES
enum {
    WIDE = 64,     /* points of a row that registers for matrices take at a time, at most, */
    MOST_MET = 512 /* and points that these meet: see matrix.c */
};

/* Do registers for matrices take a convolution from x to y?  Images have other blocks, and head.c has the
 * sums of a convolution to an image. */
INLINE int suits_matrices(const Layout *x, int segments, const Layout *y, Taps taps) {
    if (y->block != BLOCK)
        return 0;
    for (int s = 0; s < segments; s++)
        if (x[s].block != BLOCK)
            return 0;
    return (WIDE - 1) * taps.stride + (taps.count - 1) * taps.dilation < MOST_MET;
}
#endif

/* The tap of a row that stands at number `k` of the row.  Registers for matrices read several taps at once.
 * If points meet taps backwards, taps that the same points meet stand one behind another, the last one
 * first. */
INLINE int packed_tap(const Packing *p, int k) {
#ifdef MATRICES
    const Phase phase = phase_of(0, p->row, 0);
    const int row = k - k % p->row.count;
    if (!p->slides && suits_matrices(p->from, p->segments, p->to, p->row))
        for (int first = 0, at = k % p->row.count;; first++) {
            const int count = (p->row.count - first + phase.step - 1) / phase.step;
            if (at < count)
                return row + first + (count - 1 - at) * phase.step;
            at -= count;
        }
#endif
    (void)p;
    return k;
}

UNUSED static void weights_pack(const Packing *p, real *packed, const real *w) {
    const long depth = (long)stored_channels(p->from, p->segments) * p->taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(p->to); v++) {
        const int width = (v | 1) < vectors(p->to) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int s = 0, before = 0; s < p->segments; before += p->from[s].channels, s++) {
            const Layout *in = &p->from[s];
            const int together = p->slides ? taps_together(in->block, p->row) : 1;
            for (int block = 0; block < in->blocks; block++)
                for (int k = 0; k < p->taps; k += together) {
                    const int tap = packed_tap(p, k);
                    for (int e = 0; e < together * in->block; e += FACTORS, to += width)
                        store_real(to,
                                   factors_of(packed_element(p, w, v, in, before, block, tap, e, together),
                                              packed_element(p, w, v, in, before, block, tap,
                                                             e + FACTORS - 1, together)));
                }
        }
    }
}

/* ---- weight gradients ---------------------------------------------------------------------------- */

/* The sum for channel c of a segment and a lane by the first tap, and how far behind it those by the next
 * taps lie: sums of so many channels of a block lie together, channel by channel, or, from registers for
 * matrices, lane by lane.  OUTPUTS: channels of the output. */
INLINE long sum_at(const Layout *x, int c, long taps, int together, int outputs, int lane) {
    const int all = min_int(together, x->block);
#ifdef MATRICES
    if (all == BLOCK && outputs > NARROW)
        return c / all * all * taps * LANES + lane * BLOCK + c % all;
#endif
    (void)outputs;
    return (c / all * all * taps + c % all) * LANES + lane;
}

INLINE long sum_step(const Layout *x, int together) {
    return min_int(together, x->block) * LANES;
}

/* The sum of `count` points, `used` lanes of each, `step` elements apart. With pairs it is four sums of
 * every fourth, for an addition waits for the one before. */
INLINE Vector points_sum(const stored *from, int step, int count, int used) {
    Vector sum = {0}, second = {0}, third = {0}, fourth = {0};
    int p = 0;
    for (; FACTORS > 1 && p + 4 <= count; p += 4, from += 4 * step) {
        sum += load_some(from, used);
        second += load_some(from + step, used);
        third += load_some(from + 2 * step, used);
        fourth += load_some(from + 3 * step, used);
    }
    for (; p < count; p++, from += step)
        sum += load_some(from, used);
    return FACTORS > 1 ? (sum + second) + (third + fourth) : sum;
}

/* The way back of weights_spread, before more samples are added; what pads channels is zero. */
UNUSED static void weights_gather(real *total, const real *dw, const real *db, const Layout *x,
                                  int segments, const Layout *y, long taps, long out, long in,
                                  int together) {
    const long depth = stored_channels(x, segments) * taps + (db ? 1 : 0);
#pragma omp for schedule(static)
    for (int co = 0; co < vectors(y) * LANES; co++) {
        real *sums = total + co / LANES * depth * LANES;
        const real *from = dw + co * out;
        for (int s = 0; s < segments; sums += x[s].blocks * x[s].block * taps * LANES, s++)
            for (int c = 0; c < x[s].blocks * x[s].block; c++) {
                const int there = co < y->channels && c < x[s].channels;
                real *to = sums + sum_at(&x[s], c, taps, together, y->channels, co % LANES);
                for (long tap = 0; tap < taps; tap++, to += sum_step(&x[s], together))
                    *to = there ? from[tap] : 0;
                from += there ? in : 0;
            }
        if (db)
            sums[co % LANES] = co < y->channels ? db[co] : 0;
    }
}

/* From [vector of output channels][groups of input channels that lie together, tap, channel of the group;
 * then the bias][lane] to dense parameters, in which neighbouring output channels are `out` apart and
 * neighbouring input channels `in`. */
UNUSED static void weights_spread(real *dw, real *db, const real *total, const Layout *x, int segments,
                                  int count, long taps, long out, long in, int together) {
    const long depth = stored_channels(x, segments) * taps + (db ? 1 : 0);
#pragma omp for schedule(static)
    for (int co = 0; co < count; co++) {
        const real *sums = total + co / LANES * depth * LANES;
        real *to = dw + co * out;
        for (int s = 0; s < segments; sums += x[s].blocks * x[s].block * taps * LANES, s++)
            for (int c = 0; c < x[s].channels; c++, to += in) {
                const real *from = sums + sum_at(&x[s], c, taps, together, count, co % LANES);
                for (long tap = 0; tap < taps; tap++, from += sum_step(&x[s], together))
                    to[tap] = *from;
            }
        if (db)
            db[co] = sums[co % LANES];
    }
}
/* END */
