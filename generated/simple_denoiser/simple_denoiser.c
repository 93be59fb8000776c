/* simple_denoiser.c - simple_denoiser
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#include "simple_denoiser.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if UNET_RUNTIME_VERSION != 1
#error "made for another version of the runtime: compile the .unet file again"
#endif
#define UNET_REAL float

typedef UNET_REAL real; /* parameters, their gradients, the optimiser's state, arithmetic */

/* Activations and their gradients: the same, or numbers of 16 bits, rounded to the nearest, of two such to
 * the even one, whenever they are stored. */
#if defined UNET_STORED_BF16 || defined UNET_STORED_F16
typedef struct {
    uint16_t bits;
} stored;
#else
typedef real stored;
#endif
enum { SIXTEEN_BITS = sizeof(stored) < sizeof(real) };

/* Where the elements of a tensor lie, in elements; see unet/model.h. */
typedef struct {
    int channels, block, blocks; /* blocks = ceil(channels / block) */
    long origin, sample, plane, depth, row;
} Layout;

#define UNUSED __attribute__((unused))

/* Kernels are inlined whole, once for each set of constants; sanitizers would make too much code of that.
 */
#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#elif defined __SANITIZE_ADDRESS__
#define SANITIZED
#endif
#ifdef SANITIZED
#define INLINE UNUSED static
#else
#define INLINE static inline __attribute__((always_inline, unused))
#endif

/* A vector is one register, never wider: compilers lower wider ones through memory. */
enum {
    BLOCK = 16,
#if defined __AVX512F__
    LANES = 16,
    ROWS = 8, /* of a column: 2 x 8 sums, half of the 32 registers */
#elif defined __AVX__
    LANES = 8,
    ROWS = 6, /* 2 x 6 sums leave four of 16 registers to operands */
#else
    LANES = 4,
    ROWS = 6,
#endif
    PARTS = BLOCK / LANES, /* vectors in a block of channels */
    CHUNK = 4096,          /* numbers of a long array that one thread takes at a time */
};
typedef real Vector __attribute__((vector_size(LANES * sizeof(real))));
typedef int32_t Bits __attribute__((vector_size(LANES * sizeof(int32_t))));
typedef Vector Unaligned __attribute__((aligned(sizeof(real)), may_alias));

INLINE int least(int a, int b) {
    return a < b ? a : b;
}

INLINE int most(int a, int b) {
    return a > b ? a : b;
}

/* ---- numbers in memory ---------------------------------------------------------------------------- */

INLINE Vector load_real(const real *p) {
    return *(const Unaligned *)p;
}

INLINE void store_real(real *p, Vector v) {
    *(Unaligned *)p = v;
}

/* The first `lanes` only; the others are zero, or not written. Images of up to 4 channels are the case that
 * counts, so these lanes are spelled out. */
INLINE Vector load_some_real(const real *p, int lanes) {
    if (lanes >= LANES)
        return load_real(p);
    Vector v = {lanes > 0 ? p[0] : 0, lanes > 1 ? p[1] : 0, lanes > 2 ? p[2] : 0, lanes > 3 ? p[3] : 0};
    for (int i = 4; i < LANES; i++)
        if (i < lanes)
            v[i] = p[i];
    return v;
}

INLINE void store_some_real(real *p, Vector v, int lanes) {
    if (lanes >= LANES) {
        store_real(p, v);
        return;
    }
    if (lanes > 0)
        p[0] = v[0];
    if (lanes > 1)
        p[1] = v[1];
    if (lanes > 2)
        p[2] = v[2];
    for (int i = 3; i < LANES; i++)
        if (i < lanes)
            p[i] = v[i];
}

#if defined UNET_STORED_BF16 || defined UNET_STORED_F16

#if defined __AVX2__ || defined __F16C__
#include <immintrin.h>
#endif

typedef uint32_t Words __attribute__((vector_size(LANES * sizeof(uint32_t))));
typedef uint16_t Halves __attribute__((vector_size(LANES * sizeof(uint16_t))));
typedef Halves UnalignedHalves __attribute__((aligned(sizeof(uint16_t)), may_alias));

/* In one instruction, which gcc 12 does not find itself. */
INLINE Words words(Halves h) {
#if defined __AVX512F__
    return (Words)_mm512_cvtepu16_epi32((__m256i)h);
#elif defined __AVX2__
    return (Words)_mm256_cvtepu16_epi32((__m128i)h);
#else
    return __builtin_convertvector(h, Words);
#endif
}

/* b where the mask is set, else a. */
INLINE Words choose(Words a, Bits mask, Words b) {
    return (a & ~(Words)mask) | (b & (Words)mask);
}

#if defined UNET_STORED_BF16 /* the upper half of a float */
INLINE Vector widened(Halves h) {
    return (Vector)(words(h) << 16);
}

INLINE Halves narrowed(Vector v) {
    Words bits = (Words)v;
    bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return __builtin_convertvector(choose(bits, v != v, (Words){0} + 0x7fff), Halves);
}
#elif defined __AVX512F__ || defined __F16C__ /* the processor converts; all NaNs become the same one */
INLINE Vector widened(Halves h) {
#if defined __AVX512F__
    return _mm512_cvtph_ps((__m256i)h);
#else
    return _mm256_cvtph_ps((__m128i)h);
#endif
}

INLINE Halves narrowed(Vector v) {
    v = (Vector)choose((Words)v, v != v, (Words){0} + 0x7fffffff);
#if defined __AVX512F__
    return (Halves)_mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return (Halves)_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT);
#endif
}
#else /* a float has 13 bits more of the fraction, and exponents from 112 less on */
INLINE Vector widened(Halves h) {
    Words bits = words(h);
    Vector size = (Vector)((bits & 0x7fff) << 13) * 0x1p112f;
    Words infinite = 0x7f800000 | (bits & 0x3ff) << 13; /* or NaN */
    return (Vector)(choose((Words)size, size >= 0x1p16f, infinite) | (bits & 0x8000) << 16);
}

INLINE Halves narrowed(Vector v) {
    const Words half = (Words)((Vector){0} + 0.5f);
    Words bits = (Words)v & 0x7fffffff, sign = (Words)v >> 16 & 0x8000;
    Vector size = (Vector)bits;
    Words found = (bits + 0xfff + (bits >> 13 & 1) - (112u << 23)) >> 13;
    /* multiples of 2^-24, as floats from 0.5 to 1 are */
    found = choose(found, size < 0x1p-14f, (Words)(size + 0.5f) - half);
    /* nearer to 2^16 than to the largest number */
    found = choose(found, size >= 65520, (Words){0} + 0x7c00);
    return __builtin_convertvector(choose(found | sign, v != v, (Words){0} + 0x7fff), Halves);
}
#endif

INLINE Vector load(const stored *p) {
    return widened(*(const UnalignedHalves *)(const void *)p);
}

INLINE void store(stored *p, Vector v) {
    *(UnalignedHalves *)(void *)p = narrowed(v);
}

INLINE Vector load_some(const stored *p, int lanes) {
    if (lanes >= LANES)
        return load(p);
    Halves h = {lanes > 0 ? p[0].bits : 0, lanes > 1 ? p[1].bits : 0, lanes > 2 ? p[2].bits : 0,
                lanes > 3 ? p[3].bits : 0};
    for (int i = 4; i < LANES; i++)
        if (i < lanes)
            h[i] = p[i].bits;
    return widened(h);
}

INLINE void store_some(stored *p, Vector v, int lanes) {
    Halves h = narrowed(v);
    if (lanes >= LANES)
        *(UnalignedHalves *)(void *)p = h;
    else
        for (int i = 0; i < LANES; i++)
            if (i < lanes)
                p[i].bits = h[i];
}

/* As a factor of a product has to be: of the type of activations. */
INLINE Vector rounded(Vector v) {
    return widened(narrowed(v));
}

#else

INLINE Vector load(const stored *p) {
    return load_real(p);
}

INLINE void store(stored *p, Vector v) {
    store_real(p, v);
}

INLINE Vector load_some(const stored *p, int lanes) {
    return load_some_real(p, lanes);
}

INLINE void store_some(stored *p, Vector v, int lanes) {
    store_some_real(p, v, lanes);
}

INLINE Vector rounded(Vector v) {
    return v;
}

#endif

/* From element `at` on of numbers that are `real` or `stored`. */
INLINE Vector load_either(int is_real, const void *p, long at, int lanes) {
    return is_real ? load_some_real((const real *)p + at, lanes) : load_some((const stored *)p + at, lanes);
}

INLINE void store_either(int is_real, void *p, long at, Vector v, int lanes) {
    if (is_real)
        store_some_real((real *)p + at, v, lanes);
    else
        store_some((stored *)p + at, v, lanes);
}

INLINE real number(int is_real, const void *p, long at) {
    return SIXTEEN_BITS && !is_real ? load_some((const stored *)p + at, 1)[0] : ((const real *)p)[at];
}

/* Numbers to multiply with, which kernels read one by one and many times: where they are, or, of 16 bits, a
 * copy of them. */
INLINE const real *numbers_at(const stored *p, const real *copy) {
    return SIXTEEN_BITS ? copy : (const void *)p;
}

/* Makes that copy of `count` numbers. The last vector may begin in the one before it. */
INLINE const real *numbers(const stored *p, real *copy, int count) {
    if (SIXTEEN_BITS && count < LANES)
        store_some_real(copy, load_some(p, count), count);
    else if (SIXTEEN_BITS) {
        int at = 0;
        for (; at + LANES <= count; at += LANES)
            store_real(copy + at, load(p + at));
        if (at < count)
            store_real(copy + count - LANES, load(p + count - LANES));
    }
    return numbers_at(p, copy);
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

/* Elements `v` of b, 0 behind its end. */
INLINE Vector bias_vector(const real *b, int count, int v) {
    return load_some_real(b + v * LANES, count - v * LANES);
}

/* A NaN stays one. */
INLINE double between(double low, double high, double x) {
    return x < low ? low : x > high ? high : x;
}

/* What is known of a scaled loss, as doubles: the scale; good steps since it changed; steps taken; and what
 * gradients are multiplied with, 0 if they overflowed: then the step is not taken. */
enum { LOSS_SCALE, GOOD_STEPS, STEPS_TAKEN, UNSCALE };

/* ---- places in tensors --------------------------------------------------------------------------- */

typedef struct {
    int n, d, h, w;
} Place;

INLINE long point(const Layout *l, int block, Place p) {
    return l->origin + p.n * l->sample + block * l->plane + p.d * l->depth + p.h * l->row +
           (long)p.w * l->block;
}

/* Layout of segment s; a constant if there is but one. */
INLINE const Layout *segment(const Layout *x, int segments, int s) {
    return &x[segments > 1 ? s : 0];
}

/* Channels of all segments, those that pad a block included. */
INLINE int stored_channels(const Layout *x, int segments) {
    int channels = 0;
    for (int s = 0; s < segments; s++)
        channels += x[s].blocks * x[s].block;
    return channels;
}

/* A tensor as vectors of channels: an image of 1 to 4 is one vector, of which only that many lanes are
 * stored. */
INLINE int vectors(const Layout *l) {
    return l->block == BLOCK ? l->blocks * PARTS : 1;
}

INLINE int lanes(const Layout *l, int v) {
    return l->block == BLOCK ? LANES : v == 0 ? l->block : 0;
}

INLINE long vector_at(const Layout *l, int v, Place p) {
    return point(l, v / PARTS, p) + v % PARTS * LANES;
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

/* Side by side, both columns have all rows; else b takes those that are too many for a. */
INLINE Extent extent(int rows, int side_by_side, int lanes_used) {
    return side_by_side ? (Extent){rows, rows, lanes_used}
                        : (Extent){least(rows, ROWS), most(rows - ROWS, 0), lanes_used};
}

INLINE int tile_rows(int side_by_side) {
    return side_by_side ? ROWS : 2 * ROWS;
}

/* Where a tile lies in a tensor: the offsets of its columns and the distance of its rows, which are the
 * points p, p + stride, p + 2 stride, ... along the width; columns side by side are vectors v and v + 1. */
typedef struct {
    long a, b, row;
} Spot;

INLINE Spot spot(const Layout *l, int v, Place p, int stride, int side_by_side) {
    long a = vector_at(l, v, p), row = (long)stride * l->block;
    return (Spot){a, side_by_side ? vector_at(l, v + 1, p) : a + ROWS * row, row};
}

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

INLINE Column column_fill(Vector v) {
    return (Column){v, v, v, v, v, v, v, v};
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

/* The operand whose numbers are broadcast: column a starts at a, b at b; `row` apart; the next in depth
 * follows after `next`. */
typedef struct {
    const real *a, *b;
    long row, next;
} Numbers;

/* The operand of vectors: that of column a, that of b. */
typedef struct {
    const real *a, *b;
    long next;
    int lanes;
} Weights;

/* tile += sum over k of x[row, k] * w[k, lane]: all the arithmetic of convolutions. */
INLINE void tile_multiply(Tile *t, int depth, Numbers x, Weights w, Extent e) {
    for (int k = 0; k < depth; k++) {
        Vector wa = load_some_real(w.a + k * w.next, w.lanes),
               wb = load_some_real(w.b + k * w.next, w.lanes);
#define MULTIPLY(r)                                                                                        \
    if (e.a > r)                                                                                           \
        t->a.v##r += x.a[k * x.next + r * x.row] * wa;                                                     \
    if (e.b > r)                                                                                           \
        t->b.v##r += x.b[k * x.next + r * x.row] * wb;
        EACH_ROW(MULTIPLY)
#undef MULTIPLY
    }
}

/* ---- dense weights in order ------------------------------------------------------------------------ */

/* The points over which panels of weights pass: the columns [left, right) of the rows [from, to) of the
 * batch. Between panels their sums lie in the tensor that is computed, or, so that they are rounded to 16
 * bits but once, on the stack beside it. */
typedef struct {
    real *sums;
    int from, to, left, right;
} Strip;

/* The part of a dense tensor of weights that joins a few blocks of channels, by one tap, with two vectors.
 * `first`, `last`: of all panels that add to the same points. */
enum { PANEL_BLOCKS = 4 };
typedef struct {
    int blocks, first, last;
    Strip strip;
    _Alignas(64) real weights[PANEL_BLOCKS * BLOCK * 2 * LANES];
} Panel;

/* `depth` rows of `width` lanes, of which the first `rows` and `used` are there, `row` and `lane` apart. */
UNUSED static void panel_fill(Panel *panel, int depth, int width, const real *w, int rows, long row,
                              int used, long lane) {
    if (rows < depth || used < width)
        memset(panel->weights, 0, (size_t)(depth * width) * sizeof *w);
    for (int k = 0; k < least(rows, depth); k++)
        for (int v = 0; v < least(used, width); v++)
            panel->weights[k * width + v] = w[k * row + v * lane];
    for (int at = 0; SIXTEEN_BITS && at < depth * width; at += LANES)
        store_real(panel->weights + at, rounded(load_real(panel->weights + at)));
}

/* Rows in a strip over which a panel passes: enough pixels to be worth the filling, few enough for the
 * cache and for all threads to get some. No result depends on it. */
enum { STRIP_POINTS = SIXTEEN_BITS ? 1024 : 4096 };
INLINE int panel_strip(int rows, int width, int columns) {
    int fair = (int)((long)rows * columns / 32);
    return least((STRIP_POINTS - 1) / width + 1, most(511 / width + 1, fair));
}

/* Columns of a strip: all, unless these are too many sums for the stack; then whole tiles, of every
 * stride-th point. */
#define STRIP_TILES(stride) ((STRIP_POINTS - 1) / (2 * ROWS * (stride)) + 1)
#define STRIP_WIDTH(width, stride)                                                                         \
    (SIXTEEN_BITS && (int)(width) > STRIP_POINTS ? STRIP_TILES(stride) * 2 * ROWS * (stride) : (width))

/* Numbers that its sums take beside the tensor. */
#define STRIP_SUMS(width, stride)                                                                          \
    (SIXTEEN_BITS ? ((STRIP_POINTS - 1) / (width) + 1) * STRIP_WIDTH(width, stride) * 2 * LANES : 1)

/* Where the sums of a tile lie there, which begins at point `number` of the strip: by point, then its
 * vectors. */
INLINE Spot strip_spot(long number, int stride, int side_by_side) {
    const int row = side_by_side ? 2 * LANES : LANES;
    const long at = number * row;
    return (Spot){at, at + (side_by_side ? LANES : ROWS * stride * row), stride * row};
}

/* Rows of points of band `band` are those from band_start(band) to band_start(band + 1). */
INLINE int band_start(int rows, int bands, int band) {
    return (int)((long)rows * band / bands);
}

/* ---- weight gradients ---------------------------------------------------------------------------- */

/* The gradients of one sample by bands are summed in the order of the bands, then added to the total of the
 * samples before: the only order there is, whoever computed what. */
UNUSED static void bands_reduce(real *total, const real *bands, int count, long elements,
                                int first_sample) {
#pragma omp for schedule(static)
    for (long at = 0; at < elements; at += LANES) {
        Vector sum = load_real(bands + at);
        for (int band = 1; band < count; band++)
            sum += load_real(bands + band * elements + at);
        store_real(total + at, (first_sample ? (Vector){0} : load_real(total + at)) + sum);
    }
}

/* Sum of vectors v of dy over the rows [from, to) of sample n; there are `height` rows in a plane. */
INLINE Vector rows_sum(const stored *dy, const Layout *l, int n, int v, int from, int to, int height,
                       int width) {
    Vector sum = {0};
    for (int r = from; r < to; r++)
        for (int p = 0; p < width; p++)
            sum += load_some(dy + vector_at(l, v, (Place){n, r / height, r % height, p}), lanes(l, v));
    return sum;
}

/* The way back of weights_spread, before more samples are added; what pads channels is zero. */
UNUSED static void weights_gather(real *total, const real *dw, const real *db, const Layout *x,
                                  int segments, const Layout *y, long taps, long out, long in) {
    const long depth = stored_channels(x, segments) * taps + (db ? 1 : 0);
#pragma omp for schedule(static)
    for (int co = 0; co < vectors(y) * LANES; co++) {
        real *to = total + co / LANES * depth * LANES + co % LANES;
        const real *from = dw + co * out;
        for (int s = 0; s < segments; s++)
            for (int c = 0; c < x[s].blocks * x[s].block; c++, to += taps * LANES) {
                const int there = co < y->channels && c < x[s].channels;
                for (long tap = 0; tap < taps; tap++)
                    to[tap * LANES] = there ? from[tap] : 0;
                from += there ? in : 0;
            }
        if (db)
            *to = co < y->channels ? db[co] : 0;
    }
}

/* From [vector of output channels][input channel, tap; then the bias][lane] to dense parameters, in which
 * neighbouring output channels are `out` apart and neighbouring input channels `in`. */
UNUSED static void weights_spread(real *dw, real *db, const real *total, const Layout *x, int segments,
                                  int count, long taps, long out, long in) {
    const long depth = stored_channels(x, segments) * taps + (db ? 1 : 0);
#pragma omp for schedule(static)
    for (int co = 0; co < count; co++) {
        const real *from = total + co / LANES * depth * LANES + co % LANES;
        real *to = dw + co * out;
        for (int s = 0; s < segments; s++) {
            for (int c = 0; c < x[s].channels; c++, to += in)
                for (long tap = 0; tap < taps; tap++)
                    to[tap] = from[(c * taps + tap) * LANES];
            from += x[s].blocks * x[s].block * taps * LANES;
        }
        if (db)
            db[co] = *from;
    }
}

/* A piece of a band: the pixels [left, left + width) of the rows [from, to) of sample n. `fresh`: the first
 * of the band, which finds nothing in the slot yet. x, dy: where copies of its numbers go, if it needs any;
 * those of dy by point, then the vectors of a tile. */
typedef struct {
    int n, from, to, left, width, fresh;
    real *x, *dy;
} Piece;

/* Vectors v and, side by side, v + 1 of the points o, o + stride, ... of dy, where they are or in the
 * piece's row `row` of copies. */
INLINE Weights gradients_at(const stored *dy, Piece piece, int row, const Layout *l, int v, Place o,
                            int stride, int side_by_side) {
    const int width = side_by_side ? 2 * LANES : LANES;
    const real *copy = piece.dy + row * piece.width * width;
    if (SIXTEEN_BITS)
        return (Weights){copy, side_by_side ? copy + LANES : copy, width, LANES};
    const stored *a = dy + vector_at(l, v, o), *b = side_by_side ? dy + vector_at(l, v + 1, o) : a;
    return (Weights){numbers_at(a, NULL), numbers_at(b, NULL), stride * l->block, lanes(l, 0)};
}

/* Makes those copies. */
INLINE void copy_gradients(const stored *dy, Piece piece, int row, const Layout *l, int v, Place o,
                           int stride, int side_by_side) {
    real *copy = piece.dy + row * piece.width * (side_by_side ? 2 * LANES : LANES);
    for (int p = 0; p < piece.width; p++, o.w += stride)
        for (int u = v; u <= v + side_by_side; u++, copy += LANES)
            store_real(copy, load_some(dy + vector_at(l, u, o), lanes(l, u)));
}

#define AT(type, offset) ((type *)(void *)(arena + (offset)))
#define INPUT(type, index, sample) ((const type *)step->inputs[index] + start * (sample))

/* A slice of a region is as long as its last vector. */
UNUSED static void zero_tail(real *p, long used, long stored) {
#pragma omp single nowait
    for (long i = used; i < stored; i++)
        p[i] = 0;
}

/* ---- kernels ---- */

/* conv_pack: net.0 of train, net.0 of predict */
UNUSED static void k00_conv_pack(real *restrict packed, const real *restrict w) {
    enum { CI = 3, CO = 64, KD = 1, KH = 3, KW = 3, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&Y); v++) {
        const int width = (v | 1) < vectors(&Y) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int block = 0; block < X[s].blocks; block++)
                for (int tap = 0; tap < taps; tap++)
                    for (int k = 0; k < X[s].block; k++, to += width) {
                        for (int lane = 0; lane < LANES; lane++) {
                            long co = v * LANES + lane, c = block * X[s].block + k;
                            int real_weight = co < CO && c < X[s].channels;
                            to[lane] = real_weight ? w[(co * CI + first + c) * taps + tap] : 0;
                        }
                        if (SIXTEEN_BITS)
                            store_real(to, rounded(load_real(to)));
                    }
    }
}

/* conv_pack: net.2 of train, net.4 of train, net.2 of predict, 1 more */
UNUSED static void k01_conv_pack(real *restrict packed, const real *restrict w) {
    enum { CI = 64, CO = 64, KD = 1, KH = 3, KW = 3, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&Y); v++) {
        const int width = (v | 1) < vectors(&Y) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int block = 0; block < X[s].blocks; block++)
                for (int tap = 0; tap < taps; tap++)
                    for (int k = 0; k < X[s].block; k++, to += width) {
                        for (int lane = 0; lane < LANES; lane++) {
                            long co = v * LANES + lane, c = block * X[s].block + k;
                            int real_weight = co < CO && c < X[s].channels;
                            to[lane] = real_weight ? w[(co * CI + first + c) * taps + tap] : 0;
                        }
                        if (SIXTEEN_BITS)
                            store_real(to, rounded(load_real(to)));
                    }
    }
}

/* conv_pack: net.6 of train, net.6 of predict */
UNUSED static void k02_conv_pack(real *restrict packed, const real *restrict w) {
    enum { CI = 64, CO = 3, KD = 1, KH = 3, KW = 3, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout Y = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&Y); v++) {
        const int width = (v | 1) < vectors(&Y) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int block = 0; block < X[s].blocks; block++)
                for (int tap = 0; tap < taps; tap++)
                    for (int k = 0; k < X[s].block; k++, to += width) {
                        for (int lane = 0; lane < LANES; lane++) {
                            long co = v * LANES + lane, c = block * X[s].block + k;
                            int real_weight = co < CO && c < X[s].channels;
                            to[lane] = real_weight ? w[(co * CI + first + c) * taps + tap] : 0;
                        }
                        if (SIXTEEN_BITS)
                            store_real(to, rounded(load_real(to)));
                    }
    }
}

/* conv_dgrad_pack: net.6 of train */
UNUSED static void k03_conv_dgrad_pack(real *restrict packed, const real *restrict w) {
    enum { CI = 64, CO = 3, KD = 1, KH = 3, KW = 3, C0 = 0, CS = 64 };
    static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    const long taps = KD * KH * KW, depth = stored_channels(&DY, 1) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&DX); v++) {
        const int width = (v | 1) < vectors(&DX) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int block = 0; block < DY.blocks; block++)
            for (int tap = 0; tap < taps; tap++)
                for (int k = 0; k < DY.block; k++, to += width) {
                    for (int lane = 0; lane < LANES; lane++) {
                        long c = v * LANES + lane, co = block * DY.block + k;
                        int real_weight = co < CO && c < CS;
                        to[lane] = real_weight ? w[(co * CI + C0 + c) * taps + tap] : 0;
                    }
                    if (SIXTEEN_BITS)
                        store_real(to, rounded(load_real(to)));
                }
    }
}

/* conv_dgrad_pack: net.4 of train */
UNUSED static void k04_conv_dgrad_pack(real *restrict packed, const real *restrict w) {
    enum { CI = 64, CO = 64, KD = 1, KH = 3, KW = 3, C0 = 0, CS = 64 };
    static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const long taps = KD * KH * KW, depth = stored_channels(&DY, 1) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&DX); v++) {
        const int width = (v | 1) < vectors(&DX) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int block = 0; block < DY.blocks; block++)
            for (int tap = 0; tap < taps; tap++)
                for (int k = 0; k < DY.block; k++, to += width) {
                    for (int lane = 0; lane < LANES; lane++) {
                        long c = v * LANES + lane, co = block * DY.block + k;
                        int real_weight = co < CO && c < CS;
                        to[lane] = real_weight ? w[(co * CI + C0 + c) * taps + tap] : 0;
                    }
                    if (SIXTEEN_BITS)
                        store_real(to, rounded(load_real(to)));
                }
    }
}

/* conv_dgrad_pack: net.2 of train */
UNUSED static void k05_conv_dgrad_pack(real *restrict packed, const real *restrict w) {
    enum { CI = 64, CO = 64, KD = 1, KH = 3, KW = 3, C0 = 0, CS = 64 };
    static const Layout DX = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const long taps = KD * KH * KW, depth = stored_channels(&DY, 1) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&DX); v++) {
        const int width = (v | 1) < vectors(&DX) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int block = 0; block < DY.blocks; block++)
            for (int tap = 0; tap < taps; tap++)
                for (int k = 0; k < DY.block; k++, to += width) {
                    for (int lane = 0; lane < LANES; lane++) {
                        long c = v * LANES + lane, co = block * DY.block + k;
                        int real_weight = co < CO && c < CS;
                        to[lane] = real_weight ? w[(co * CI + C0 + c) * taps + tap] : 0;
                    }
                    if (SIXTEEN_BITS)
                        store_real(to, rounded(load_real(to)));
                }
    }
}

/* zero: mse of train, psnr of train */
UNUSED static void k06_zero(void *sum) {
    enum { BYTES = 8 };
#pragma omp single
    memset(sum, 0, BYTES);
}

/* zero: net.6 of train, net.0 of train */
UNUSED static void k07_zero(void *sum) {
    enum { BYTES = 6912 };
#pragma omp single
    memset(sum, 0, BYTES);
}

/* zero: net.6 of train */
UNUSED static void k08_zero(void *sum) {
    enum { BYTES = 12 };
#pragma omp single
    memset(sum, 0, BYTES);
}

/* zero: net.4 of train, net.2 of train */
UNUSED static void k09_zero(void *sum) {
    enum { BYTES = 147456 };
#pragma omp single
    memset(sum, 0, BYTES);
}

/* zero: net.4 of train, net.2 of train, net.0 of train */
UNUSED static void k10_zero(void *sum) {
    enum { BYTES = 256 };
#pragma omp single
    memset(sum, 0, BYTES);
}

/* conv: net.0 of train, net.0 of predict */
/* One row of taps over one block of channels. */
INLINE void k11_conv_taps(Tile *t, const stored *x, const real *w, int block, int side_by_side, Extent e) {
    enum { KW = 3, SW = 1, LW = 1 };
    enum { LONGEST = (2 * ROWS - 1) * SW + (KW - 1) * LW + 1 }; /* pixels that a tile meets */
    const int width = side_by_side ? 2 * LANES : LANES, rows = side_by_side ? e.a : e.a + e.b;
    _Alignas(64) real copy[SIXTEEN_BITS ? LONGEST * BLOCK : 1];
    const real *pixel = numbers(x, copy, ((rows - 1) * SW + (KW - 1) * LW + 1) * block);
    for (int kw = 0; kw < KW; kw++) {
        const real *from = pixel + kw * LW * block, *by = w + kw * block * width;
        Numbers pixels = {from, side_by_side ? from : from + ROWS * SW * block, SW * block, 1};
        Weights weights = {by, side_by_side ? by + LANES : by, width, LANES};
        tile_multiply(t, block, pixels, weights, e);
    }
}

INLINE void k11_conv_tile(stored *y, const stored *const *x, const real *w, const real *b, int v, Place o,
                        int rows, int side_by_side) {
    enum { CO = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1,
           PW = 1, BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Tile t = {0};
    if (BIAS)
        t = (Tile){column_fill(bias_vector(b, CO, v)), column_fill(bias_vector(b, CO, v + side_by_side))};
    for (int s = 0; s < SEGMENTS; s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block++)
            for (int kd = 0; kd < KD; kd++)
                for (int kh = 0; kh < KH; kh++) {
                    Place i = {o.n, o.d * SD - PD + kd * LD, o.h * SH - PH + kh * LH, o.w * SW - PW};
                    const stored *from = x[s] + point(in, block, i);
                    if (in->block == BLOCK) /* a constant, which in->block need not be */
                        k11_conv_taps(&t, from, w, BLOCK, side_by_side, e);
                    else
                        k11_conv_taps(&t, from, w, in->block, side_by_side, e);
                    w += KW * in->block * (side_by_side ? 2 * LANES : LANES);
                }
    }
    tile_store(0, y, spot(&Y, v, o, 1, side_by_side), RELU ? tile_relu(t) : t, e);
}

INLINE void k11_conv_row(stored *y, const stored *const *x, const real *w, const real *b, int v, Place o,
                       int side_by_side) {
    enum { W = 64 };
    const int rows = tile_rows(side_by_side);
    for (; o.w + rows <= W; o.w += rows)
        k11_conv_tile(y, x, w, b, v, o, rows, side_by_side);
    if (W % rows)
        k11_conv_tile(y, x, w, b, v, o, W % rows, side_by_side);
}

UNUSED static void k11_conv(int n, stored *restrict y, const stored *const *x, const real *w, const real *b) {
    enum { D = 1, H = 64, W = 64, KD = 1, KH = 3, KW = 3, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { STRIP = 127 / W + 1 };
    const long depth = (long)stored_channels(X, SEGMENTS) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = 0; strip < D * H; strip += STRIP)
            for (int v = 0; v < vectors(&Y); v += 2)
                for (int r = strip; r < least(strip + STRIP, D * H); r++) {
                    Place o = {i, r / H, r % H, 0};
                    if (v + 1 < vectors(&Y))
                        k11_conv_row(y, x, w + v * LANES * depth, b, v, o, 1);
                    else
                        k11_conv_row(y, x, w + v * LANES * depth, b, v, o, 0);
                }
}

/* zero_halo: net.0 of train, net.2 of train, net.4 of train, 5 more */
/* Rows of points lie in ascending order; what is not a row is halo: here the part before each row, and
 * behind the last. */
UNUSED static void k12_zero_halo(int n, stored *y) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { ROWS_OF_PLANE = D * H };
    const int rows = Y.blocks * ROWS_OF_PLANE;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = 0; r <= rows; r++) {
            const int q = r - 1;
            Place here = {i, r % ROWS_OF_PLANE / H, r % H, 0},
                  before = {i, q % ROWS_OF_PLANE / H, q % H, W};
            long from = r > 0 ? point(&Y, q / ROWS_OF_PLANE, before) : i * Y.sample;
            long to = r < rows ? point(&Y, r / ROWS_OF_PLANE, here) : (i + 1) * Y.sample;
            memset(y + from, 0, (size_t)(to - from) * sizeof *y);
        }
}

/* conv: net.2 of train, net.4 of train, net.2 of predict, 1 more */
/* One row of taps over one block of channels. */
INLINE void k13_conv_taps(Tile *t, const stored *x, const real *w, int block, int side_by_side, Extent e) {
    enum { KW = 3, SW = 1, LW = 1 };
    enum { LONGEST = (2 * ROWS - 1) * SW + (KW - 1) * LW + 1 }; /* pixels that a tile meets */
    const int width = side_by_side ? 2 * LANES : LANES, rows = side_by_side ? e.a : e.a + e.b;
    _Alignas(64) real copy[SIXTEEN_BITS ? LONGEST * BLOCK : 1];
    const real *pixel = numbers(x, copy, ((rows - 1) * SW + (KW - 1) * LW + 1) * block);
    for (int kw = 0; kw < KW; kw++) {
        const real *from = pixel + kw * LW * block, *by = w + kw * block * width;
        Numbers pixels = {from, side_by_side ? from : from + ROWS * SW * block, SW * block, 1};
        Weights weights = {by, side_by_side ? by + LANES : by, width, LANES};
        tile_multiply(t, block, pixels, weights, e);
    }
}

INLINE void k13_conv_tile(stored *y, const stored *const *x, const real *w, const real *b, int v, Place o,
                        int rows, int side_by_side) {
    enum { CO = 64, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1,
           PW = 1, BIAS = 1, RELU = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Tile t = {0};
    if (BIAS)
        t = (Tile){column_fill(bias_vector(b, CO, v)), column_fill(bias_vector(b, CO, v + side_by_side))};
    for (int s = 0; s < SEGMENTS; s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block++)
            for (int kd = 0; kd < KD; kd++)
                for (int kh = 0; kh < KH; kh++) {
                    Place i = {o.n, o.d * SD - PD + kd * LD, o.h * SH - PH + kh * LH, o.w * SW - PW};
                    const stored *from = x[s] + point(in, block, i);
                    if (in->block == BLOCK) /* a constant, which in->block need not be */
                        k13_conv_taps(&t, from, w, BLOCK, side_by_side, e);
                    else
                        k13_conv_taps(&t, from, w, in->block, side_by_side, e);
                    w += KW * in->block * (side_by_side ? 2 * LANES : LANES);
                }
    }
    tile_store(0, y, spot(&Y, v, o, 1, side_by_side), RELU ? tile_relu(t) : t, e);
}

INLINE void k13_conv_row(stored *y, const stored *const *x, const real *w, const real *b, int v, Place o,
                       int side_by_side) {
    enum { W = 64 };
    const int rows = tile_rows(side_by_side);
    for (; o.w + rows <= W; o.w += rows)
        k13_conv_tile(y, x, w, b, v, o, rows, side_by_side);
    if (W % rows)
        k13_conv_tile(y, x, w, b, v, o, W % rows, side_by_side);
}

UNUSED static void k13_conv(int n, stored *restrict y, const stored *const *x, const real *w, const real *b) {
    enum { D = 1, H = 64, W = 64, KD = 1, KH = 3, KW = 3, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { STRIP = 127 / W + 1 };
    const long depth = (long)stored_channels(X, SEGMENTS) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = 0; strip < D * H; strip += STRIP)
            for (int v = 0; v < vectors(&Y); v += 2)
                for (int r = strip; r < least(strip + STRIP, D * H); r++) {
                    Place o = {i, r / H, r % H, 0};
                    if (v + 1 < vectors(&Y))
                        k13_conv_row(y, x, w + v * LANES * depth, b, v, o, 1);
                    else
                        k13_conv_row(y, x, w + v * LANES * depth, b, v, o, 0);
                }
}

/* conv: net.6 of train, net.6 of predict */
/* One row of taps over one block of channels. */
INLINE void k14_conv_taps(Tile *t, const stored *x, const real *w, int block, int side_by_side, Extent e) {
    enum { KW = 3, SW = 1, LW = 1 };
    enum { LONGEST = (2 * ROWS - 1) * SW + (KW - 1) * LW + 1 }; /* pixels that a tile meets */
    const int width = side_by_side ? 2 * LANES : LANES, rows = side_by_side ? e.a : e.a + e.b;
    _Alignas(64) real copy[SIXTEEN_BITS ? LONGEST * BLOCK : 1];
    const real *pixel = numbers(x, copy, ((rows - 1) * SW + (KW - 1) * LW + 1) * block);
    for (int kw = 0; kw < KW; kw++) {
        const real *from = pixel + kw * LW * block, *by = w + kw * block * width;
        Numbers pixels = {from, side_by_side ? from : from + ROWS * SW * block, SW * block, 1};
        Weights weights = {by, side_by_side ? by + LANES : by, width, LANES};
        tile_multiply(t, block, pixels, weights, e);
    }
}

INLINE void k14_conv_tile(stored *y, const stored *const *x, const real *w, const real *b, int v, Place o,
                        int rows, int side_by_side) {
    enum { CO = 3, KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1,
           PW = 1, BIAS = 1, RELU = 0, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout Y = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    Extent e = extent(rows, side_by_side, lanes(&Y, 0));
    Tile t = {0};
    if (BIAS)
        t = (Tile){column_fill(bias_vector(b, CO, v)), column_fill(bias_vector(b, CO, v + side_by_side))};
    for (int s = 0; s < SEGMENTS; s++) {
        const Layout *in = segment(X, SEGMENTS, s);
        for (int block = 0; block < in->blocks; block++)
            for (int kd = 0; kd < KD; kd++)
                for (int kh = 0; kh < KH; kh++) {
                    Place i = {o.n, o.d * SD - PD + kd * LD, o.h * SH - PH + kh * LH, o.w * SW - PW};
                    const stored *from = x[s] + point(in, block, i);
                    if (in->block == BLOCK) /* a constant, which in->block need not be */
                        k14_conv_taps(&t, from, w, BLOCK, side_by_side, e);
                    else
                        k14_conv_taps(&t, from, w, in->block, side_by_side, e);
                    w += KW * in->block * (side_by_side ? 2 * LANES : LANES);
                }
    }
    tile_store(0, y, spot(&Y, v, o, 1, side_by_side), RELU ? tile_relu(t) : t, e);
}

INLINE void k14_conv_row(stored *y, const stored *const *x, const real *w, const real *b, int v, Place o,
                       int side_by_side) {
    enum { W = 64 };
    const int rows = tile_rows(side_by_side);
    for (; o.w + rows <= W; o.w += rows)
        k14_conv_tile(y, x, w, b, v, o, rows, side_by_side);
    if (W % rows)
        k14_conv_tile(y, x, w, b, v, o, W % rows, side_by_side);
}

UNUSED static void k14_conv(int n, stored *restrict y, const stored *const *x, const real *w, const real *b) {
    enum { D = 1, H = 64, W = 64, KD = 1, KH = 3, KW = 3, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout Y = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    enum { STRIP = 127 / W + 1 };
    const long depth = (long)stored_channels(X, SEGMENTS) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = 0; strip < D * H; strip += STRIP)
            for (int v = 0; v < vectors(&Y); v += 2)
                for (int r = strip; r < least(strip + STRIP, D * H); r++) {
                    Place o = {i, r / H, r % H, 0};
                    if (v + 1 < vectors(&Y))
                        k14_conv_row(y, x, w + v * LANES * depth, b, v, o, 1);
                    else
                        k14_conv_row(y, x, w + v * LANES * depth, b, v, o, 0);
                }
}

/* mse: mse of train */
/* Sum over the rows [from, to) of channel block `block`, as far as they are valid. */
UNUSED static double k15_mse_rows(const void *p, const void *t, int i, int from, int to,
                                 const int32_t *size) {
    enum { C = 3, H = 64, P_STAGED = 0, T_STAGED = 1 };
    static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const Layout T = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int r = from; r < to; r++) {
        Place at = {i, r / H, r % H, 0};
        if (at.d >= size[0] || at.h >= size[1])
            continue;
        for (int c = 0; c < C; c++) {
            const long a = point(&P, c / P.block, at) + c % P.block;
            const long b = point(&T, c / T.block, at) + c % T.block;
            for (int v = 0; v < size[2]; v++) {
                double difference = (double)number(P_STAGED, p, a + v * P.block) -
                                    (double)number(T_STAGED, t, b + v * T.block);
                sum += difference * difference;
            }
        }
    }
    return sum;
}

UNUSED static void k15_mse(int n, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    enum { C = 3, D = 1, H = 64, W = 64, BANDS = 16, ACCUMULATE = 1 };
    static const int32_t whole[3] = {D, H, W};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int band = 0; band < BANDS; band++)
            scratch[i * BANDS + band] =
                k15_mse_rows(p, t, i, band_start(D * H, BANDS, band), band_start(D * H, BANDS, band + 1),
                            valid ? valid[i] : whole);
#pragma omp single
    {
        double total = ACCUMULATE ? *result : 0;
        for (int i = 0; i < n; i++) {
            const int32_t *size = valid ? valid[i] : whole;
            double sum = 0;
            for (int band = 0; band < BANDS; band++)
                sum += scratch[i * BANDS + band];
            double mean = sum / ((double)C * size[0] * size[1] * size[2]);
            total += mean;
        }
        *result = total;
    }
}

/* psnr: psnr of train */
/* Sum over the rows [from, to) of channel block `block`, as far as they are valid. */
UNUSED static double k16_psnr_rows(const void *p, const void *t, int i, int from, int to,
                                 const int32_t *size) {
    enum { C = 3, H = 64, P_STAGED = 0, T_STAGED = 1 };
    static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const Layout T = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    double sum = 0;
    for (int r = from; r < to; r++) {
        Place at = {i, r / H, r % H, 0};
        if (at.d >= size[0] || at.h >= size[1])
            continue;
        for (int c = 0; c < C; c++) {
            const long a = point(&P, c / P.block, at) + c % P.block;
            const long b = point(&T, c / T.block, at) + c % T.block;
            for (int v = 0; v < size[2]; v++) {
                double difference = between(0, 1, (double)number(P_STAGED, p, a + v * P.block)) -
                                    between(0, 1, (double)number(T_STAGED, t, b + v * T.block));
                sum += difference * difference;
            }
        }
    }
    return sum;
}

UNUSED static void k16_psnr(int n, double *result, double *scratch, const void *p, const void *t,
                          const int32_t (*valid)[3]) {
    enum { C = 3, D = 1, H = 64, W = 64, BANDS = 16, ACCUMULATE = 1 };
    static const int32_t whole[3] = {D, H, W};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int band = 0; band < BANDS; band++)
            scratch[i * BANDS + band] =
                k16_psnr_rows(p, t, i, band_start(D * H, BANDS, band), band_start(D * H, BANDS, band + 1),
                            valid ? valid[i] : whole);
#pragma omp single
    {
        double total = ACCUMULATE ? *result : 0;
        for (int i = 0; i < n; i++) {
            const int32_t *size = valid ? valid[i] : whole;
            double sum = 0;
            for (int band = 0; band < BANDS; band++)
                sum += scratch[i * BANDS + band];
            double mean = sum / ((double)C * size[0] * size[1] * size[2]);
            total += between(0, 100, -10 * log10(mean));
        }
        *result = total;
    }
}

/* mse_grad: mse of train */
UNUSED static void k17_mse_grad(int n, int total, stored *dp, const void *p, const void *t, const double *scale) {
    enum { C = 3, D = 1, H = 64, W = 64, P_STAGED = 0, T_STAGED = 1, SCALED = 0 };
    static const Layout P = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const Layout T = {3, 3, 1, 0, 12288, 12288, 12288, 192};
    static const double WEIGHT = 1;
    static const Layout DP = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    const real factor =
        (real)(2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / (total * ((double)C * D * H * W)));
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < DP.blocks; block++)
            for (int r = 0; r < D * H; r++) {
                const Place row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * DP.block; left > 0; at += LANES, left -= LANES) {
                    Vector difference = load_either(P_STAGED, p, point(&P, block, row) + at, left) -
                                        load_either(T_STAGED, t, point(&T, block, row) + at, left);
                    store_some(dp + point(&DP, block, row) + at, factor * difference, left);
                }
            }
}

/* zero_halo: mse of train */
/* Rows of points lie in ascending order; what is not a row is halo: here the part before each row, and
 * behind the last. */
UNUSED static void k18_zero_halo(int n, stored *y) {
    enum { D = 1, H = 64, W = 64 };
    static const Layout Y = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    enum { ROWS_OF_PLANE = D * H };
    const int rows = Y.blocks * ROWS_OF_PLANE;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = 0; r <= rows; r++) {
            const int q = r - 1;
            Place here = {i, r % ROWS_OF_PLANE / H, r % H, 0},
                  before = {i, q % ROWS_OF_PLANE / H, q % H, W};
            long from = r > 0 ? point(&Y, q / ROWS_OF_PLANE, before) : i * Y.sample;
            long to = r < rows ? point(&Y, r / ROWS_OF_PLANE, here) : (i + 1) * Y.sample;
            memset(y + from, 0, (size_t)(to - from) * sizeof *y);
        }
}

/* conv_wgrad: net.6 of train */
/* Pixels of a row of x that a row of taps meets. */
INLINE int k19_conv_wgrad_met(int width) {
    enum { KW = 3, SW = 1, LW = 1 };
    return (width - 1) * SW + (KW - 1) * LW + 1;
}

/* The first that a tap meets in row r. */
INLINE Place k19_conv_wgrad_place(Piece piece, int r, const int *tap) {
    enum { H = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1, PH = 1, SW = 1, LW = 1, PW = 1 };
    return (Place){piece.n, r / H * SD - PD + tap[0] * LD, r % H * SH - PH + tap[1] * LH,
                   piece.left * SW - PW + tap[2] * LW};
}

INLINE void k19_conv_wgrad_tile(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                        Piece piece, const int *tap, Extent e, Spot at, int v, int channel,
                        int side_by_side) {
    enum { H = 64, SW = 1, LW = 1 };
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    Tile t = piece.fresh ? (Tile){0} : tile_load(1, slot, at, e);
    for (int r = piece.from; r < piece.to; r++) {
        const int row = r - piece.from;
        const real *copy = piece.x + (row * k19_conv_wgrad_met(piece.width) + tap[2] * LW) * block;
        const real *a = numbers_at(x + point(from, channel / block, k19_conv_wgrad_place(piece, r, tap)), copy);
        a += channel % block;
        Numbers channels = {a, side_by_side ? a : a + ROWS, 1, SW * block};
        Weights gradients = gradients_at(dy, piece, row, &DY, v, (Place){piece.n, r / H, r % H, piece.left},
                                         1, side_by_side);
        tile_multiply(&t, piece.width, channels, gradients, e);
    }
    tile_store(1, slot, at, t, e);
}

/* One block of channels of the input: those from `channel` on of the segment, `before` on of all. */
INLINE void k19_conv_wgrad_block(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                         Piece piece, int v, int channel, int before, int side_by_side) {
    enum { KD = 1, KH = 3, KW = 3, BIAS = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    const int taps = KD * KH * KW;
    /* a constant, also if the block is not */
    const int rows = block == BLOCK ? tile_rows(side_by_side) : SEGMENTS == 1 ? block : 1;
    const long depth = stored_channels(X, SEGMENTS) * taps + BIAS, row = taps * LANES;
    for (int k = 0; k < taps; k++) {
        const int tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
        for (int r = piece.from; tap[2] == 0 && SIXTEEN_BITS && r < piece.to; r++)
            numbers(x + point(from, channel / block, k19_conv_wgrad_place(piece, r, tap)),
                    piece.x + (r - piece.from) * k19_conv_wgrad_met(piece.width) * block,
                    k19_conv_wgrad_met(piece.width) * block);
        for (int c = 0; c < block; c += rows) {
            Spot at = {(v * depth + (before + c) * taps + k) * LANES, 0, row};
            at.b = at.a + (side_by_side ? depth * LANES : ROWS * row);
            if (c + rows <= block)
                k19_conv_wgrad_tile(slot, x, dy, from, block, piece, tap, extent(rows, side_by_side, LANES), at, v,
                            channel + c, side_by_side);
            else
                k19_conv_wgrad_tile(slot, x, dy, from, block, piece, tap, extent(block % rows, side_by_side, LANES),
                            at, v, channel + c, side_by_side);
        }
    }
}

/* A band piece by piece, each small enough to stay in the cache for all taps. */
INLINE void k19_conv_wgrad_band(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before, int side_by_side) {
    enum { D = 1, H = 64, W = 64, KW = 3, SW = 1, LW = 1, BANDS = 16 };
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    enum { PIXELS = 128, STRIP = (PIXELS - 1) / W + 1, WIDTH = W < PIXELS ? W : PIXELS };
    enum { MET = (WIDTH - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real x_copy[SIXTEEN_BITS ? STRIP * MET * BLOCK : 1];
    _Alignas(64) real dy_copy[SIXTEEN_BITS ? STRIP * WIDTH * 2 * LANES : 1];
    const int start = band_start(D * H, BANDS, band), end = band_start(D * H, BANDS, band + 1);
    for (int r = start; r < end; r += STRIP)
        for (int left = 0; left < W; left += PIXELS) {
            const int to = least(r + STRIP, end), fresh = r == start && left == 0;
            Piece piece = {n, r, to, left, least(PIXELS, W - left), fresh, x_copy, dy_copy};
            for (int q = r; SIXTEEN_BITS && q < to; q++)
                copy_gradients(dy, piece, q - r, &DY, v, (Place){n, q / H, q % H, left}, 1, side_by_side);
            k19_conv_wgrad_block(slot, x, dy, from, block, piece, v, channel, before, side_by_side);
        }
}

INLINE void k19_conv_wgrad_item(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before) {
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    if (v + 1 < vectors(&DY))
        k19_conv_wgrad_band(slot, x, dy, from, block, n, band, v, channel, before, 1);
    else
        k19_conv_wgrad_band(slot, x, dy, from, block, n, band, v, channel, before, 0);
}

/* The slots of all bands of sample i. */
INLINE void k19_conv_wgrad_sample(real *slots, long elements, const stored *const *x, const stored *dy, int i) {
    enum { D = 1, H = 64, W = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, BANDS = 16, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
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
                        k19_conv_wgrad_item(slot, x[s], dy, in, BLOCK, i, band, v, c, before + c);
                    else
                        k19_conv_wgrad_item(slot, x[s], dy, in, in->block, i, band, v, c, before + c);
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

UNUSED static void k19_conv_wgrad(int n, real *restrict dw, real *restrict db, real *restrict scratch,
                          const stored *const *x, const stored *dy) {
    enum { CI = 64, CO = 3, KD = 1, KH = 3, KW = 3, BIAS = 1, BANDS = 16, ACCUMULATE = 1,
           SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps + BIAS;
    const long elements = vectors(&DY) * depth * LANES;
    real *total = scratch + BANDS * elements;
    if (ACCUMULATE)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, CI * taps, taps);
    for (int i = 0; i < n; i++) {
        k19_conv_wgrad_sample(scratch, elements, x, dy, i);
        bands_reduce(total, scratch, BANDS, elements, !ACCUMULATE && i == 0);
    }
    weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, CI * taps, taps);
}

/* conv_dgrad: net.6 of train */
/* One row of taps over one block of channels; dy is the row of it that they meet. */
INLINE void k20_conv_dgrad_taps(Tile *t, const stored *dy, const real *w, int left, int rows, int side_by_side,
                        Extent e) {
    enum { KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    enum { LONGEST = 2 * ROWS + (KW - 1) * LW / SW }; /* pixels that a tile meets */
    const int width = side_by_side ? 2 * LANES : LANES;
    int first = 0, last = KW - 1; /* taps that meet a pixel */
    while (first < KW && (left + PW - first * LW) % SW != 0)
        first++;
    while (last > first && (left + PW - last * LW) % SW != 0)
        last--;
    if (first == KW)
        return;
    const int start = (left + PW - last * LW) / SW, end = (left + PW - first * LW) / SW + rows;
    _Alignas(64) real copy[SIXTEEN_BITS ? LONGEST * BLOCK : 1];
    const real *pixel = numbers(dy + start * DY.block, copy, (end - start) * DY.block);
    for (int kw = first; kw <= last; kw++) {
        const int o = left + PW - kw * LW;
        if (o % SW != 0)
            continue;
        const real *from = pixel + (o / SW - start) * DY.block, *by = w + kw * DY.block * width;
        Numbers pixels = {from, side_by_side ? from : from + ROWS * DY.block, DY.block, 1};
        Weights weights = {by, side_by_side ? by + LANES : by, width, LANES};
        tile_multiply(t, DY.block, pixels, weights, e);
    }
}

INLINE void k20_conv_dgrad_tile(stored *dx, const stored *dy, const real *w, const stored *m, int v, Place p,
                        int rows, int side_by_side) {
    enum { KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1,
           MASK = 1 };
    static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    static const Layout M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const int width = side_by_side ? 2 * LANES : LANES;
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    Tile t = {0};
    for (int block = 0; block < DY.blocks; block++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++, w += KW * DY.block * width) {
                int d = p.d + PD - kd * LD, h = p.h + PH - kh * LH;
                if (d % SD != 0 || h % SH != 0)
                    continue;
                const stored *from = dy + point(&DY, block, (Place){p.n, d / SD, h / SH, 0});
                k20_conv_dgrad_taps(&t, from, w, p.w, rows, side_by_side, e);
            }
    if (MASK)
        t = tile_mask(t, tile_load(0, m, spot(&M, v, p, SW, side_by_side), e));
    tile_store(0, dx, spot(&DX, v, p, SW, side_by_side), t, e);
}

INLINE void k20_conv_dgrad_row(stored *dx, const stored *dy, const real *w, const stored *m, int v, Place p,
                       int side_by_side) {
    enum { IW = 64, SW = 1 };
    enum { PIXELS = IW / SW }; /* in every phase; those before IW % SW have one more */
    const int rows = tile_rows(side_by_side);
    for (int phase = 0; phase < SW; phase++) {
        p.w = phase;
        for (int j = 0; j + rows <= PIXELS; j += rows, p.w += rows * SW)
            k20_conv_dgrad_tile(dx, dy, w, m, v, p, rows, side_by_side);
        if (PIXELS % rows)
            k20_conv_dgrad_tile(dx, dy, w, m, v, p, PIXELS % rows, side_by_side);
        p.w = phase + PIXELS * SW;
        if (p.w < IW)
            k20_conv_dgrad_tile(dx, dy, w, m, v, p, 1, side_by_side);
    }
}

UNUSED static void k20_conv_dgrad(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, KD = 1, KH = 3, KW = 3 };
    static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout DY = {3, 3, 1, 201, 13072, 13068, 13068, 198};
    enum { STRIP = 127 / IW + 1 };
    const long depth = (long)stored_channels(&DY, 1) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = 0; strip < ID * IH; strip += STRIP)
            for (int v = 0; v < vectors(&DX); v += 2)
                for (int r = strip; r < least(strip + STRIP, ID * IH); r++) {
                    Place p = {i, r / IH, r % IH, 0};
                    if (v + 1 < vectors(&DX))
                        k20_conv_dgrad_row(dx, dy, w + v * LANES * depth, m, v, p, 1);
                    else
                        k20_conv_dgrad_row(dx, dy, w + v * LANES * depth, m, v, p, 0);
                }
}

/* conv_wgrad: net.4 of train, net.2 of train */
/* Pixels of a row of x that a row of taps meets. */
INLINE int k21_conv_wgrad_met(int width) {
    enum { KW = 3, SW = 1, LW = 1 };
    return (width - 1) * SW + (KW - 1) * LW + 1;
}

/* The first that a tap meets in row r. */
INLINE Place k21_conv_wgrad_place(Piece piece, int r, const int *tap) {
    enum { H = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1, PH = 1, SW = 1, LW = 1, PW = 1 };
    return (Place){piece.n, r / H * SD - PD + tap[0] * LD, r % H * SH - PH + tap[1] * LH,
                   piece.left * SW - PW + tap[2] * LW};
}

INLINE void k21_conv_wgrad_tile(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                        Piece piece, const int *tap, Extent e, Spot at, int v, int channel,
                        int side_by_side) {
    enum { H = 64, SW = 1, LW = 1 };
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    Tile t = piece.fresh ? (Tile){0} : tile_load(1, slot, at, e);
    for (int r = piece.from; r < piece.to; r++) {
        const int row = r - piece.from;
        const real *copy = piece.x + (row * k21_conv_wgrad_met(piece.width) + tap[2] * LW) * block;
        const real *a = numbers_at(x + point(from, channel / block, k21_conv_wgrad_place(piece, r, tap)), copy);
        a += channel % block;
        Numbers channels = {a, side_by_side ? a : a + ROWS, 1, SW * block};
        Weights gradients = gradients_at(dy, piece, row, &DY, v, (Place){piece.n, r / H, r % H, piece.left},
                                         1, side_by_side);
        tile_multiply(&t, piece.width, channels, gradients, e);
    }
    tile_store(1, slot, at, t, e);
}

/* One block of channels of the input: those from `channel` on of the segment, `before` on of all. */
INLINE void k21_conv_wgrad_block(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                         Piece piece, int v, int channel, int before, int side_by_side) {
    enum { KD = 1, KH = 3, KW = 3, BIAS = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    const int taps = KD * KH * KW;
    /* a constant, also if the block is not */
    const int rows = block == BLOCK ? tile_rows(side_by_side) : SEGMENTS == 1 ? block : 1;
    const long depth = stored_channels(X, SEGMENTS) * taps + BIAS, row = taps * LANES;
    for (int k = 0; k < taps; k++) {
        const int tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
        for (int r = piece.from; tap[2] == 0 && SIXTEEN_BITS && r < piece.to; r++)
            numbers(x + point(from, channel / block, k21_conv_wgrad_place(piece, r, tap)),
                    piece.x + (r - piece.from) * k21_conv_wgrad_met(piece.width) * block,
                    k21_conv_wgrad_met(piece.width) * block);
        for (int c = 0; c < block; c += rows) {
            Spot at = {(v * depth + (before + c) * taps + k) * LANES, 0, row};
            at.b = at.a + (side_by_side ? depth * LANES : ROWS * row);
            if (c + rows <= block)
                k21_conv_wgrad_tile(slot, x, dy, from, block, piece, tap, extent(rows, side_by_side, LANES), at, v,
                            channel + c, side_by_side);
            else
                k21_conv_wgrad_tile(slot, x, dy, from, block, piece, tap, extent(block % rows, side_by_side, LANES),
                            at, v, channel + c, side_by_side);
        }
    }
}

/* A band piece by piece, each small enough to stay in the cache for all taps. */
INLINE void k21_conv_wgrad_band(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before, int side_by_side) {
    enum { D = 1, H = 64, W = 64, KW = 3, SW = 1, LW = 1, BANDS = 8 };
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { PIXELS = 128, STRIP = (PIXELS - 1) / W + 1, WIDTH = W < PIXELS ? W : PIXELS };
    enum { MET = (WIDTH - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real x_copy[SIXTEEN_BITS ? STRIP * MET * BLOCK : 1];
    _Alignas(64) real dy_copy[SIXTEEN_BITS ? STRIP * WIDTH * 2 * LANES : 1];
    const int start = band_start(D * H, BANDS, band), end = band_start(D * H, BANDS, band + 1);
    for (int r = start; r < end; r += STRIP)
        for (int left = 0; left < W; left += PIXELS) {
            const int to = least(r + STRIP, end), fresh = r == start && left == 0;
            Piece piece = {n, r, to, left, least(PIXELS, W - left), fresh, x_copy, dy_copy};
            for (int q = r; SIXTEEN_BITS && q < to; q++)
                copy_gradients(dy, piece, q - r, &DY, v, (Place){n, q / H, q % H, left}, 1, side_by_side);
            k21_conv_wgrad_block(slot, x, dy, from, block, piece, v, channel, before, side_by_side);
        }
}

INLINE void k21_conv_wgrad_item(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before) {
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    if (v + 1 < vectors(&DY))
        k21_conv_wgrad_band(slot, x, dy, from, block, n, band, v, channel, before, 1);
    else
        k21_conv_wgrad_band(slot, x, dy, from, block, n, band, v, channel, before, 0);
}

/* The slots of all bands of sample i. */
INLINE void k21_conv_wgrad_sample(real *slots, long elements, const stored *const *x, const stored *dy, int i) {
    enum { D = 1, H = 64, W = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, BANDS = 8, SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
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
                        k21_conv_wgrad_item(slot, x[s], dy, in, BLOCK, i, band, v, c, before + c);
                    else
                        k21_conv_wgrad_item(slot, x[s], dy, in, in->block, i, band, v, c, before + c);
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

UNUSED static void k21_conv_wgrad(int n, real *restrict dw, real *restrict db, real *restrict scratch,
                          const stored *const *x, const stored *dy) {
    enum { CI = 64, CO = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, BANDS = 8, ACCUMULATE = 1,
           SEGMENTS = 1 };
    static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056}};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps + BIAS;
    const long elements = vectors(&DY) * depth * LANES;
    real *total = scratch + BANDS * elements;
    if (ACCUMULATE)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, CI * taps, taps);
    for (int i = 0; i < n; i++) {
        k21_conv_wgrad_sample(scratch, elements, x, dy, i);
        bands_reduce(total, scratch, BANDS, elements, !ACCUMULATE && i == 0);
    }
    weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, CI * taps, taps);
}

/* conv_dgrad: net.4 of train */
/* One row of taps over one block of channels; dy is the row of it that they meet. */
INLINE void k22_conv_dgrad_taps(Tile *t, const stored *dy, const real *w, int left, int rows, int side_by_side,
                        Extent e) {
    enum { KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { LONGEST = 2 * ROWS + (KW - 1) * LW / SW }; /* pixels that a tile meets */
    const int width = side_by_side ? 2 * LANES : LANES;
    int first = 0, last = KW - 1; /* taps that meet a pixel */
    while (first < KW && (left + PW - first * LW) % SW != 0)
        first++;
    while (last > first && (left + PW - last * LW) % SW != 0)
        last--;
    if (first == KW)
        return;
    const int start = (left + PW - last * LW) / SW, end = (left + PW - first * LW) / SW + rows;
    _Alignas(64) real copy[SIXTEEN_BITS ? LONGEST * BLOCK : 1];
    const real *pixel = numbers(dy + start * DY.block, copy, (end - start) * DY.block);
    for (int kw = first; kw <= last; kw++) {
        const int o = left + PW - kw * LW;
        if (o % SW != 0)
            continue;
        const real *from = pixel + (o / SW - start) * DY.block, *by = w + kw * DY.block * width;
        Numbers pixels = {from, side_by_side ? from : from + ROWS * DY.block, DY.block, 1};
        Weights weights = {by, side_by_side ? by + LANES : by, width, LANES};
        tile_multiply(t, DY.block, pixels, weights, e);
    }
}

INLINE void k22_conv_dgrad_tile(stored *dx, const stored *dy, const real *w, const stored *m, int v, Place p,
                        int rows, int side_by_side) {
    enum { KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1,
           MASK = 1 };
    static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const int width = side_by_side ? 2 * LANES : LANES;
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    Tile t = {0};
    for (int block = 0; block < DY.blocks; block++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++, w += KW * DY.block * width) {
                int d = p.d + PD - kd * LD, h = p.h + PH - kh * LH;
                if (d % SD != 0 || h % SH != 0)
                    continue;
                const stored *from = dy + point(&DY, block, (Place){p.n, d / SD, h / SH, 0});
                k22_conv_dgrad_taps(&t, from, w, p.w, rows, side_by_side, e);
            }
    if (MASK)
        t = tile_mask(t, tile_load(0, m, spot(&M, v, p, SW, side_by_side), e));
    tile_store(0, dx, spot(&DX, v, p, SW, side_by_side), t, e);
}

INLINE void k22_conv_dgrad_row(stored *dx, const stored *dy, const real *w, const stored *m, int v, Place p,
                       int side_by_side) {
    enum { IW = 64, SW = 1 };
    enum { PIXELS = IW / SW }; /* in every phase; those before IW % SW have one more */
    const int rows = tile_rows(side_by_side);
    for (int phase = 0; phase < SW; phase++) {
        p.w = phase;
        for (int j = 0; j + rows <= PIXELS; j += rows, p.w += rows * SW)
            k22_conv_dgrad_tile(dx, dy, w, m, v, p, rows, side_by_side);
        if (PIXELS % rows)
            k22_conv_dgrad_tile(dx, dy, w, m, v, p, PIXELS % rows, side_by_side);
        p.w = phase + PIXELS * SW;
        if (p.w < IW)
            k22_conv_dgrad_tile(dx, dy, w, m, v, p, 1, side_by_side);
    }
}

UNUSED static void k22_conv_dgrad(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, KD = 1, KH = 3, KW = 3 };
    static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { STRIP = 127 / IW + 1 };
    const long depth = (long)stored_channels(&DY, 1) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = 0; strip < ID * IH; strip += STRIP)
            for (int v = 0; v < vectors(&DX); v += 2)
                for (int r = strip; r < least(strip + STRIP, ID * IH); r++) {
                    Place p = {i, r / IH, r % IH, 0};
                    if (v + 1 < vectors(&DX))
                        k22_conv_dgrad_row(dx, dy, w + v * LANES * depth, m, v, p, 1);
                    else
                        k22_conv_dgrad_row(dx, dy, w + v * LANES * depth, m, v, p, 0);
                }
}

/* conv_dgrad: net.2 of train */
/* One row of taps over one block of channels; dy is the row of it that they meet. */
INLINE void k23_conv_dgrad_taps(Tile *t, const stored *dy, const real *w, int left, int rows, int side_by_side,
                        Extent e) {
    enum { KW = 3, SW = 1, LW = 1, PW = 1 };
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { LONGEST = 2 * ROWS + (KW - 1) * LW / SW }; /* pixels that a tile meets */
    const int width = side_by_side ? 2 * LANES : LANES;
    int first = 0, last = KW - 1; /* taps that meet a pixel */
    while (first < KW && (left + PW - first * LW) % SW != 0)
        first++;
    while (last > first && (left + PW - last * LW) % SW != 0)
        last--;
    if (first == KW)
        return;
    const int start = (left + PW - last * LW) / SW, end = (left + PW - first * LW) / SW + rows;
    _Alignas(64) real copy[SIXTEEN_BITS ? LONGEST * BLOCK : 1];
    const real *pixel = numbers(dy + start * DY.block, copy, (end - start) * DY.block);
    for (int kw = first; kw <= last; kw++) {
        const int o = left + PW - kw * LW;
        if (o % SW != 0)
            continue;
        const real *from = pixel + (o / SW - start) * DY.block, *by = w + kw * DY.block * width;
        Numbers pixels = {from, side_by_side ? from : from + ROWS * DY.block, DY.block, 1};
        Weights weights = {by, side_by_side ? by + LANES : by, width, LANES};
        tile_multiply(t, DY.block, pixels, weights, e);
    }
}

INLINE void k23_conv_dgrad_tile(stored *dx, const stored *dy, const real *w, const stored *m, int v, Place p,
                        int rows, int side_by_side) {
    enum { KD = 1, SD = 1, LD = 1, PD = 0, KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1,
           MASK = 1 };
    static const Layout DX = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    static const Layout M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    const int width = side_by_side ? 2 * LANES : LANES;
    Extent e = extent(rows, side_by_side, lanes(&DX, 0));
    Tile t = {0};
    for (int block = 0; block < DY.blocks; block++)
        for (int kd = 0; kd < KD; kd++)
            for (int kh = 0; kh < KH; kh++, w += KW * DY.block * width) {
                int d = p.d + PD - kd * LD, h = p.h + PH - kh * LH;
                if (d % SD != 0 || h % SH != 0)
                    continue;
                const stored *from = dy + point(&DY, block, (Place){p.n, d / SD, h / SH, 0});
                k23_conv_dgrad_taps(&t, from, w, p.w, rows, side_by_side, e);
            }
    if (MASK)
        t = tile_mask(t, tile_load(0, m, spot(&M, v, p, SW, side_by_side), e));
    tile_store(0, dx, spot(&DX, v, p, SW, side_by_side), t, e);
}

INLINE void k23_conv_dgrad_row(stored *dx, const stored *dy, const real *w, const stored *m, int v, Place p,
                       int side_by_side) {
    enum { IW = 64, SW = 1 };
    enum { PIXELS = IW / SW }; /* in every phase; those before IW % SW have one more */
    const int rows = tile_rows(side_by_side);
    for (int phase = 0; phase < SW; phase++) {
        p.w = phase;
        for (int j = 0; j + rows <= PIXELS; j += rows, p.w += rows * SW)
            k23_conv_dgrad_tile(dx, dy, w, m, v, p, rows, side_by_side);
        if (PIXELS % rows)
            k23_conv_dgrad_tile(dx, dy, w, m, v, p, PIXELS % rows, side_by_side);
        p.w = phase + PIXELS * SW;
        if (p.w < IW)
            k23_conv_dgrad_tile(dx, dy, w, m, v, p, 1, side_by_side);
    }
}

UNUSED static void k23_conv_dgrad(int n, stored *restrict dx, const stored *dy, const real *w, const stored *m) {
    enum { ID = 1, IH = 64, IW = 64, KD = 1, KH = 3, KW = 3 };
    static const Layout DX = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    static const Layout DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056};
    enum { STRIP = 127 / IW + 1 };
    const long depth = (long)stored_channels(&DY, 1) * (KD * KH * KW);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int strip = 0; strip < ID * IH; strip += STRIP)
            for (int v = 0; v < vectors(&DX); v += 2)
                for (int r = strip; r < least(strip + STRIP, ID * IH); r++) {
                    Place p = {i, r / IH, r % IH, 0};
                    if (v + 1 < vectors(&DX))
                        k23_conv_dgrad_row(dx, dy, w + v * LANES * depth, m, v, p, 1);
                    else
                        k23_conv_dgrad_row(dx, dy, w + v * LANES * depth, m, v, p, 0);
                }
}

/* conv_wgrad: net.0 of train */
/* Pixels of a row of x that a row of taps meets. */
INLINE int k24_conv_wgrad_met(int width) {
    enum { KW = 3, SW = 1, LW = 1 };
    return (width - 1) * SW + (KW - 1) * LW + 1;
}

/* The first that a tap meets in row r. */
INLINE Place k24_conv_wgrad_place(Piece piece, int r, const int *tap) {
    enum { H = 64, SD = 1, LD = 1, PD = 0, SH = 1, LH = 1, PH = 1, SW = 1, LW = 1, PW = 1 };
    return (Place){piece.n, r / H * SD - PD + tap[0] * LD, r % H * SH - PH + tap[1] * LH,
                   piece.left * SW - PW + tap[2] * LW};
}

INLINE void k24_conv_wgrad_tile(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                        Piece piece, const int *tap, Extent e, Spot at, int v, int channel,
                        int side_by_side) {
    enum { H = 64, SW = 1, LW = 1 };
    static const Layout DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    Tile t = piece.fresh ? (Tile){0} : tile_load(1, slot, at, e);
    for (int r = piece.from; r < piece.to; r++) {
        const int row = r - piece.from;
        const real *copy = piece.x + (row * k24_conv_wgrad_met(piece.width) + tap[2] * LW) * block;
        const real *a = numbers_at(x + point(from, channel / block, k24_conv_wgrad_place(piece, r, tap)), copy);
        a += channel % block;
        Numbers channels = {a, side_by_side ? a : a + ROWS, 1, SW * block};
        Weights gradients = gradients_at(dy, piece, row, &DY, v, (Place){piece.n, r / H, r % H, piece.left},
                                         1, side_by_side);
        tile_multiply(&t, piece.width, channels, gradients, e);
    }
    tile_store(1, slot, at, t, e);
}

/* One block of channels of the input: those from `channel` on of the segment, `before` on of all. */
INLINE void k24_conv_wgrad_block(real *slot, const stored *x, const stored *dy, const Layout *from, int block,
                         Piece piece, int v, int channel, int before, int side_by_side) {
    enum { KD = 1, KH = 3, KW = 3, BIAS = 1, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    const int taps = KD * KH * KW;
    /* a constant, also if the block is not */
    const int rows = block == BLOCK ? tile_rows(side_by_side) : SEGMENTS == 1 ? block : 1;
    const long depth = stored_channels(X, SEGMENTS) * taps + BIAS, row = taps * LANES;
    for (int k = 0; k < taps; k++) {
        const int tap[3] = {k / (KH * KW), k / KW % KH, k % KW};
        for (int r = piece.from; tap[2] == 0 && SIXTEEN_BITS && r < piece.to; r++)
            numbers(x + point(from, channel / block, k24_conv_wgrad_place(piece, r, tap)),
                    piece.x + (r - piece.from) * k24_conv_wgrad_met(piece.width) * block,
                    k24_conv_wgrad_met(piece.width) * block);
        for (int c = 0; c < block; c += rows) {
            Spot at = {(v * depth + (before + c) * taps + k) * LANES, 0, row};
            at.b = at.a + (side_by_side ? depth * LANES : ROWS * row);
            if (c + rows <= block)
                k24_conv_wgrad_tile(slot, x, dy, from, block, piece, tap, extent(rows, side_by_side, LANES), at, v,
                            channel + c, side_by_side);
            else
                k24_conv_wgrad_tile(slot, x, dy, from, block, piece, tap, extent(block % rows, side_by_side, LANES),
                            at, v, channel + c, side_by_side);
        }
    }
}

/* A band piece by piece, each small enough to stay in the cache for all taps. */
INLINE void k24_conv_wgrad_band(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before, int side_by_side) {
    enum { D = 1, H = 64, W = 64, KW = 3, SW = 1, LW = 1, BANDS = 32 };
    static const Layout DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    enum { PIXELS = 128, STRIP = (PIXELS - 1) / W + 1, WIDTH = W < PIXELS ? W : PIXELS };
    enum { MET = (WIDTH - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real x_copy[SIXTEEN_BITS ? STRIP * MET * BLOCK : 1];
    _Alignas(64) real dy_copy[SIXTEEN_BITS ? STRIP * WIDTH * 2 * LANES : 1];
    const int start = band_start(D * H, BANDS, band), end = band_start(D * H, BANDS, band + 1);
    for (int r = start; r < end; r += STRIP)
        for (int left = 0; left < W; left += PIXELS) {
            const int to = least(r + STRIP, end), fresh = r == start && left == 0;
            Piece piece = {n, r, to, left, least(PIXELS, W - left), fresh, x_copy, dy_copy};
            for (int q = r; SIXTEEN_BITS && q < to; q++)
                copy_gradients(dy, piece, q - r, &DY, v, (Place){n, q / H, q % H, left}, 1, side_by_side);
            k24_conv_wgrad_block(slot, x, dy, from, block, piece, v, channel, before, side_by_side);
        }
}

INLINE void k24_conv_wgrad_item(real *slot, const stored *x, const stored *dy, const Layout *from, int block, int n,
                        int band, int v, int channel, int before) {
    static const Layout DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    if (v + 1 < vectors(&DY))
        k24_conv_wgrad_band(slot, x, dy, from, block, n, band, v, channel, before, 1);
    else
        k24_conv_wgrad_band(slot, x, dy, from, block, n, band, v, channel, before, 0);
}

/* The slots of all bands of sample i. */
INLINE void k24_conv_wgrad_sample(real *slots, long elements, const stored *const *x, const stored *dy, int i) {
    enum { D = 1, H = 64, W = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, BANDS = 32, SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    static const Layout DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
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
                        k24_conv_wgrad_item(slot, x[s], dy, in, BLOCK, i, band, v, c, before + c);
                    else
                        k24_conv_wgrad_item(slot, x[s], dy, in, in->block, i, band, v, c, before + c);
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

UNUSED static void k24_conv_wgrad(int n, real *restrict dw, real *restrict db, real *restrict scratch,
                          const stored *const *x, const stored *dy) {
    enum { CI = 3, CO = 64, KD = 1, KH = 3, KW = 3, BIAS = 1, BANDS = 32, ACCUMULATE = 1,
           SEGMENTS = 1 };
    static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198}};
    static const Layout DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024};
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps + BIAS;
    const long elements = vectors(&DY) * depth * LANES;
    real *total = scratch + BANDS * elements;
    if (ACCUMULATE)
        weights_gather(total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, taps, CI * taps, taps);
    for (int i = 0; i < n; i++) {
        k24_conv_wgrad_sample(scratch, elements, x, dy, i);
        bands_reduce(total, scratch, BANDS, elements, !ACCUMULATE && i == 0);
    }
    weights_spread(dw, BIAS ? db : NULL, total, X, SEGMENTS, CO, taps, CI * taps, taps);
}

/* adam: adam of train */
UNUSED static void k25_adam(real *restrict p, const real *restrict g, real *restrict m, real *restrict v,
                          const double *scale, double rate, int64_t step) {
    enum { COUNT = 77392, SCALED = 0, DECOUPLED = 0 };
    static const double WEIGHT_DECAY = 0;
    static const double BETA1 = 0.90000000000000002;
    static const double BETA2 = 0.999;
    static const double EPSILON = 1e-08;
    const double taken = SCALED ? scale[STEPS_TAKEN] : (double)step;
    const double bias1 = 1 - pow(BETA1, taken), bias2 = sqrt(1 - pow(BETA2, taken));
    const real speed = (real)(rate / bias1), root_scale = (real)bias2, epsilon = (real)EPSILON;
    const real shrink = (real)(1 - rate * WEIGHT_DECAY), decay = (real)WEIGHT_DECAY;
    const real keep1 = (real)BETA1, keep2 = (real)BETA2, add1 = (real)(1 - BETA1), add2 = (real)(1 - BETA2);
    const real unscale = SCALED ? (real)scale[UNSCALE] : 1;
#pragma omp for schedule(static)
    for (long chunk = 0; chunk < (unscale > 0 ? COUNT : 0); chunk += CHUNK) {
        const long end = chunk + CHUNK < COUNT ? chunk + CHUNK : COUNT;
#pragma omp simd
        for (long i = chunk; i < end; i++) {
            real old = DECOUPLED ? p[i] * shrink : p[i];
            real gradient = DECOUPLED ? g[i] * unscale : g[i] * unscale + decay * p[i];
            m[i] = keep1 * m[i] + add1 * gradient;
            v[i] = keep2 * v[i] + add2 * gradient * gradient;
            p[i] = old - speed * m[i] / (sqrtf(v[i]) / root_scale + epsilon);
        }
    }
}

/* ---- train: batch 6, 6,553,728 bytes of the arena ---- */

static void train(const UnetStep *step) {
    char *const arena = step->arena;
#pragma omp parallel num_threads(step->threads)
    {
        /* 0: conv_pack of net.0 (simple_denoiser.unet:7): net.0.weight[64,3,3,3] -> net.0 weights[1728] */
        k00_conv_pack(AT(real, 6539776), AT(real, 302400));
        /* 1: conv_pack of net.2 (simple_denoiser.unet:8): net.2.weight[64,64,3,3] -> net.2 weights[36864] */
        k01_conv_pack(AT(real, 5913088), AT(real, 154688));
        /* 2: conv_pack of net.4 (simple_denoiser.unet:9): net.4.weight[64,64,3,3] -> net.4 weights[36864] */
        k01_conv_pack(AT(real, 6060544), AT(real, 6976));
        /* 3: conv_pack of net.6 (simple_denoiser.unet:10): net.6.weight[3,64,3,3] -> net.6 weights[9216] */
        k02_conv_pack(AT(real, 6502912), AT(real, 0));
        /* 4: conv_dgrad_pack of net.6 (simple_denoiser.unet:10): net.6.weight[3,64,3,3]
            -> net.6 weights[1728] */
        k03_conv_dgrad_pack(AT(real, 6546688), AT(real, 0));
        /* 5: conv_dgrad_pack of net.4 (simple_denoiser.unet:9): net.4.weight[64,64,3,3]
            -> net.4 weights[36864] */
        k04_conv_dgrad_pack(AT(real, 6208000), AT(real, 6976));
        /* 6: conv_dgrad_pack of net.2 (simple_denoiser.unet:8): net.2.weight[64,64,3,3]
            -> net.2 weights[36864] */
        k05_conv_dgrad_pack(AT(real, 6355456), AT(real, 154688));
        /* 7: zero of mse (simple_denoiser.unet:21): -> mse[1] */
        k06_zero(AT(double, 6553600));
        /* 8: zero of psnr (simple_denoiser.unet:22): -> psnr[1] */
        k06_zero(AT(double, 6553664));
        /* 9: zero of net.6 (simple_denoiser.unet:10): -> d net.6.weight[3,64,3,3] */
        k07_zero(AT(real, 5603520));
        /* 10: zero of net.6 (simple_denoiser.unet:10): -> d net.6.bias[3] */
        zero_tail(AT(real, 5610432), 3, 16);
        k08_zero(AT(real, 5610432));
        /* 11: zero of net.4 (simple_denoiser.unet:9): -> d net.4.weight[64,64,3,3] */
        k09_zero(AT(real, 5610496));
        /* 12: zero of net.4 (simple_denoiser.unet:9): -> d net.4.bias[64] */
        k10_zero(AT(real, 5757952));
        /* 13: zero of net.2 (simple_denoiser.unet:8): -> d net.2.weight[64,64,3,3] */
        k09_zero(AT(real, 5758208));
        /* 14: zero of net.2 (simple_denoiser.unet:8): -> d net.2.bias[64] */
        k10_zero(AT(real, 5905664));
        /* 15: zero of net.0 (simple_denoiser.unet:7): -> d net.0.weight[64,3,3,3] */
        k07_zero(AT(real, 5905920));
        /* 16: zero of net.0 (simple_denoiser.unet:7): -> d net.0.bias[64] */
        k10_zero(AT(real, 5912832));
        /* 17: samples */
        for (int start = 0; start < step->n; start += 1) {
            const int n = step->n - start < 1 ? step->n - start : 1;
            const int32_t(*const valid)[3] = step->valid ? step->valid + start : NULL;
            (void)valid;
            /* 18: conv of net.0 (simple_denoiser.unet:7): noisy[n,3,64,64] net.0 weights[1728] net.0.bias[64]
                -> net.1[n,64,64,64] */
            k12_zero_halo(n, AT(real, 4488384));
            k11_conv(n, AT(real, 4488384), (const real *const[]){INPUT(real, 0, 13072)}, AT(real, 6539776),
                AT(real, 309312));
            /* 19: conv of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] net.2 weights[36864]
                net.2.bias[64] -> net.3[n,64,64,64] */
            k12_zero_halo(n, AT(real, 928704));
            k13_conv(n, AT(real, 928704), (const real *const[]){AT(real, 4488384)}, AT(real, 5913088),
                AT(real, 302144));
            /* 20: conv of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] net.4 weights[36864]
                net.4.bias[64] -> net.5[n,64,64,64] */
            k12_zero_halo(n, AT(real, 2043840));
            k13_conv(n, AT(real, 2043840), (const real *const[]){AT(real, 928704)}, AT(real, 6060544),
                AT(real, 154432));
            /* 21: conv of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] net.6 weights[9216]
                net.6.bias[3] -> net.6[n,3,64,64] */
            k14_conv(n, AT(real, 3211264), (const real *const[]){AT(real, 2043840)}, AT(real, 6502912),
                AT(real, 6912));
            /* 22: mse (simple_denoiser.unet:21): net.6[n,3,64,64] clean[n,3,64,64] -> mse[1]
                mse scratch[16] */
            k15_mse(n, AT(double, 6553600), AT(double, 3158976), AT(real, 3211264), INPUT(real, 1, 12288),
                valid);
            /* 23: psnr (simple_denoiser.unet:22): net.6[n,3,64,64] clean[n,3,64,64] -> psnr[1]
                psnr scratch[16] */
            k16_psnr(n, AT(double, 6553664), AT(double, 3158976), AT(real, 3211264), INPUT(real, 1, 12288),
                valid);
            /* 24: mse_grad of mse (simple_denoiser.unet:21): net.6[n,3,64,64] clean[n,3,64,64]
                -> d net.6[n,3,64,64] */
            k18_zero_halo(n, AT(real, 3158976));
            k17_mse_grad(n, step->n, AT(real, 3158976), AT(real, 3211264), INPUT(real, 1, 12288), NULL);
            /* 25: conv_wgrad of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] d net.6[n,3,64,64]
                -> d net.6.weight[3,64,3,3] d net.6.bias[3] net.6 scratch[156944] */
            zero_tail(AT(real, 5610432), 3, 16);
            k19_conv_wgrad(n, AT(real, 5603520), AT(real, 5610432), AT(real, 3211264),
                (const real *const[]){AT(real, 2043840)}, AT(real, 3158976));
            /* 26: conv_dgrad of net.6 (simple_denoiser.unet:10): d net.6[n,3,64,64] net.6 weights[1728]
                net.5[n,64,64,64] -> d net.4[n,64,64,64] */
            k12_zero_halo(n, AT(real, 3373248));
            k20_conv_dgrad(n, AT(real, 3373248), AT(real, 3158976), AT(real, 6546688), AT(real, 2043840));
            /* 27: conv_wgrad of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] d net.4[n,64,64,64]
                -> d net.4.weight[64,64,3,3] d net.4.bias[64] net.4 scratch[332352] */
            k21_conv_wgrad(n, AT(real, 5610496), AT(real, 5757952), AT(real, 2043840),
                (const real *const[]){AT(real, 928704)}, AT(real, 3373248));
            /* 28: conv_dgrad of net.4 (simple_denoiser.unet:9): d net.4[n,64,64,64] net.4 weights[36864]
                net.3[n,64,64,64] -> d net.2[n,64,64,64] */
            k12_zero_halo(n, AT(real, 2258112));
            k22_conv_dgrad(n, AT(real, 2258112), AT(real, 3373248), AT(real, 6208000), AT(real, 928704));
            /* 29: conv_wgrad of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] d net.2[n,64,64,64]
                -> d net.2.weight[64,64,3,3] d net.2.bias[64] net.2 scratch[332352] */
            k21_conv_wgrad(n, AT(real, 5758208), AT(real, 5905664), AT(real, 928704),
                (const real *const[]){AT(real, 4488384)}, AT(real, 2258112));
            /* 30: conv_dgrad of net.2 (simple_denoiser.unet:8): d net.2[n,64,64,64] net.2 weights[36864]
                net.1[n,64,64,64] -> d net.0[n,64,64,64] */
            k23_conv_dgrad(n, AT(real, 928704), AT(real, 2258112), AT(real, 6355456), AT(real, 4488384));
            /* 31: conv_wgrad of net.0 (simple_denoiser.unet:7): noisy[n,3,64,64] d net.0[n,64,64,64]
                -> d net.0.weight[64,3,3,3] d net.0.bias[64] net.0 scratch[59136] */
            k24_conv_wgrad(n, AT(real, 5905920), AT(real, 5912832), AT(real, 1977280),
                (const real *const[]){INPUT(real, 0, 13072)}, AT(real, 928704));
        }
        /* 32: adam (simple_denoiser.unet:20): all parameters */
        k25_adam(AT(real, 0), AT(real, 5603520), AT(real, 309568), AT(real, 619136),
            NULL, step->learning_rate, step->step);
    }
}

/* ---- predict: batch 1, 3,306,432 bytes of the arena ---- */

static void predict(const UnetStep *step) {
    char *const arena = step->arena;
    const int n = step->n, start = 0;
    const int32_t(*const valid)[3] = step->valid;
    (void)n, (void)start, (void)valid;
#pragma omp parallel num_threads(step->threads)
    {
        /* 0: conv_pack of net.0 (simple_denoiser.unet:7): net.0.weight[64,3,3,3] -> net.0 weights[1728] */
        k00_conv_pack(AT(real, 2043840), AT(real, 302400));
        /* 1: conv of net.0 (simple_denoiser.unet:7): noisy[n,3,64,64] net.0 weights[1728] net.0.bias[64]
            -> net.1[n,64,64,64] */
        k12_zero_halo(n, AT(real, 928704));
        k11_conv(n, AT(real, 928704), (const real *const[]){INPUT(real, 0, 13072)}, AT(real, 2043840),
            AT(real, 309312));
        /* 2: conv_pack of net.2 (simple_denoiser.unet:8): net.2.weight[64,64,3,3] -> net.2 weights[36864] */
        k01_conv_pack(AT(real, 3158976), AT(real, 154688));
        /* 3: conv of net.2 (simple_denoiser.unet:8): net.1[n,64,64,64] net.2 weights[36864] net.2.bias[64]
            -> net.3[n,64,64,64] */
        k12_zero_halo(n, AT(real, 2043840));
        k13_conv(n, AT(real, 2043840), (const real *const[]){AT(real, 928704)}, AT(real, 3158976),
            AT(real, 302144));
        /* 4: conv_pack of net.4 (simple_denoiser.unet:9): net.4.weight[64,64,3,3] -> net.4 weights[36864] */
        k01_conv_pack(AT(real, 3158976), AT(real, 6976));
        /* 5: conv of net.4 (simple_denoiser.unet:9): net.3[n,64,64,64] net.4 weights[36864] net.4.bias[64]
            -> net.5[n,64,64,64] */
        k12_zero_halo(n, AT(real, 928704));
        k13_conv(n, AT(real, 928704), (const real *const[]){AT(real, 2043840)}, AT(real, 3158976),
            AT(real, 154432));
        /* 6: conv_pack of net.6 (simple_denoiser.unet:10): net.6.weight[3,64,3,3] -> net.6 weights[9216] */
        k02_conv_pack(AT(real, 2092992), AT(real, 0));
        /* 7: conv of net.6 (simple_denoiser.unet:10): net.5[n,64,64,64] net.6 weights[9216] net.6.bias[3]
            -> net.6[n,3,64,64] */
        k14_conv(n, AT(real, 2043840), (const real *const[]){AT(real, 928704)}, AT(real, 2092992),
            AT(real, 6912));
    }
}

/* ---- tables for the runtime; see unet/model.h ---- */

/* name, rank, sizes, initial values and their bound, offset, offsets of the moments */
static const UnetParameter parameter[] = {
    {"net.0.weight", 4, {64, 3, 3, 3}, UNET_INIT_UNIFORM, 0.19245008972987526, 302400, {611968, 921536}},
    {"net.0.bias", 1, {64}, UNET_INIT_UNIFORM, 0.19245008972987526, 309312, {618880, 928448}},
    {"net.2.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 154688, {464256, 773824}},
    {"net.2.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 302144, {611712, 921280}},
    {"net.4.weight", 4, {64, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 6976, {316544, 626112}},
    {"net.4.bias", 1, {64}, UNET_INIT_UNIFORM, 0.041666666666666664, 154432, {464000, 773568}},
    {"net.6.weight", 4, {3, 64, 3, 3}, UNET_INIT_UNIFORM, 0.041666666666666664, 0, {309568, 619136}},
    {"net.6.bias", 1, {3}, UNET_INIT_UNIFORM, 0.041666666666666664, 6912, {316480, 626048}},
};
static const UnetInput input[] = {
    {"noisy", UNET_IMAGE, false, 3, -1},
    {"clean", UNET_IMAGE, true, 3, -1},
};
static const UnetOutput output[] = {
    {"denoised", UNET_IMAGE},
};
/* as written, operator, kind, weight, more is better, input to compare with, target */
static const UnetResult result[] = {
    {"mse(denoised, clean)", "mse", UNET_LOSS, 1, false, -1, 1},
    {"psnr(denoised, clean)", "psnr", UNET_METRIC, 1, true, 0, 1},
};
/* type, channels, {depth, height, width}, block; origin, strides, bytes of a sample */
static const UnetLayout train_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 201, 13072, 13068, 13068, 198, 52288},
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 49152},
};
static const int64_t train_result_offset[] = {
    6553600,
    6553664,
    -1, /* there may be no result at all */
};
static const UnetProgram train_program = {
    .name = "train",
    .run = train,
    .batch = 6,
    .size = {1, 64, 64},
    .extent = 6553728,
    .inputs = train_input,
    .result_offsets = train_result_offset,
    .input_bytes = 608640,
};
/* type, channels, {depth, height, width}, block; origin, strides, bytes of a sample */
static const UnetLayout predict_input[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 201, 13072, 13068, 13068, 198, 52288},
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 0},
};
static const UnetLayout predict_output[] = {
    {UNET_F32, 3, {1, 64, 64}, 3, 0, 12288, 12288, 12288, 192, 49152},
};
static const int64_t predict_output_offset[] = {
    2043840,
};
static const int64_t predict_result_offset[] = {
    -1,
    -1,
    -1, /* there may be no result at all */
};
static const UnetProgram predict_program = {
    .name = "predict",
    .run = predict,
    .batch = 1,
    .size = {1, 64, 64},
    .extent = 3306432,
    .inputs = predict_input,
    .outputs = predict_output,
    .output_offsets = predict_output_offset,
    .result_offsets = predict_result_offset,
    .input_bytes = 52288,
};
static const UnetSourceTerm data_term_0[] = {
    {UNET_SRC_FILES, "noisy/*.png", 0, 0, 15},
};
static const UnetSourceTerm data_term_1[] = {
    {UNET_SRC_FILES, "clean/*.png", 0, 0, 16},
};
static const UnetSource data_source[] = {
    {"noisy", 0, 3, 1, data_term_0},
    {"clean", 1, 3, 1, data_term_1},
};
static const UnetTransform data_transform[] = {
    {UNET_DO_CROP, true, UNET_PAD_NONE, 0, 0, 0},
};
static const UnetData data = {
    .source = data_source, .nsource = 2,
    .transform = data_transform, .ntransform = 1,
    .holdout = 0, .holdout_seed = 0, .shuffle = true, .threads = 0,
};
static const UnetTraining training = {
    .optimizer = UNET_ADAM, .learning_rate = 0.00050000000000000001,
    .drop_tail = false,
    .duration = 50, .duration_unit = UNET_EPOCHS, .steps_per_epoch = 0,
    .save_every = 1, .save_unit = UNET_EPOCHS, .save_keep = 3,
    .eval_every = 1, .eval_unit = UNET_EPOCHS,
    .seed = 0,
    .pretrained = NULL,
    .description = "adam(lr = 0.0005)",
};

const UnetModel simple_denoiser_model = {
    .runtime_version = UNET_RUNTIME_VERSION,
    .name = "simple_denoiser",
    .source = "simple_denoiser.unet", .source_hash = "00438fdc504441cc",
    .target = "cpu", .isa = "native", .real = UNET_F32, .precision = "f32", .max_threads = 64,
    .nparameter = 8, .parameter = parameter, .parameter_count = 77379,
    .persistent = 928704,
    .ninput = 2, .inputs = input,
    .noutput = 1, .outputs = output,
    .nresult = 2, .results = result,
    .train = &train_program,
    .predict = &predict_program,
    .arena_bytes = 6553728,
    .ring = 3, .loader_ring_bytes = 1825920,
    .predict_pad = UNET_PAD_REFLECT,
    .data = &data,
    .training = &training,
};
