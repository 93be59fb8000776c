/* wgrad.c - gradients of convolutions by their weights, whatever the sizes.
 *
 * Sizes are handed over in a struct, and one copy of the code serves all layers.  A tile's loop over
 * positions takes the time, and only the number of its rows has to be a constant in it: their begins and
 * their distance are found before, for all tiles of a tap.  Only code that touches an image, whose pixels
 * and vectors are narrow, stands in the instance of its layer. */
#include "matrix.c"

/* BEGIN */
#include <omp.h>

/* Registers for matrices take 32 positions at a time: there is room for so many of dy, whose copies take
 * half of it, and behind copies of x for so many that are multiplied with zeros. */
enum { LEAST_COPIED = 16, COPIED_BEHIND = SIXTEEN_BITS ? 32 : 0 };
/* Elements of copies of a strip of rows: LONGEST positions of a row, and points of x that they meet. */
#define COPIED_DY(longest)                                                                                 \
    (((int)(longest) < (int)LEAST_COPIED ? (int)LEAST_COPIED : (int)(longest)) * 2 * LANES)
#define COPIES(width, longest, met, stride)                                                                \
    (STRIP(width) * (COPIED_DY(longest) + (SIXTEEN_BITS ? (met)*BLOCK : 0)) +                              \
     COPIED_BEHIND * (stride)*BLOCK)
#define STRIP(width) ((int)(width) <= (int)SHORT_ROW ? (PIXELS - 1) / (width) + 1 : 1)

/* The work of a thread at a time: adds to `sums`, for sample n, the products of block `number` of a segment
 * of x, which begins at `channel` of all channels, with vectors v and, side by side, v + 1 of dy; [from,
 * to) of them. `block`: channels of such a block; `depth`: rows of sums for each vector. */
typedef struct {
    real *sums;
    const stored *x, *dy;
    const Layout *layout;
    long depth;
    int n, number, channel, block, v, side_by_side, from, to;
    Axes first; /* tap */
} Item;

/* A piece of the positions: from `at` on so many pixels of each of the rows [from, to). `fresh`: the first
 * of all, which finds no sums yet.  x, dy: the places of copies of its elements, if it needs any;
 * copies of dy by point, then the vectors of a tile. */
typedef struct {
    Point at;
    int from, to, width, fresh;
    real *x, *dy;
} Piece;

/* The operands of the tiles of a tap: so many rows of positions, each of `depth` slots, whose elements
 * begin at x and dy, the next ones and the second vector of dy so far behind; they go to the sums from a
 * and, in this vector, from b on, which lie there already unless `fresh`: a sum for each channel that there
 * is. */
typedef struct {
    real *a, *b;
    long x_next, dy_next, dy_second;
    int channels, rows, depth, fresh, runs_on;
    const real *x[PIXELS], *dy[PIXELS];
} Tap;

typedef struct Wgrad {
    const Layout *x, *dy; /* of each segment; of dy, which has so many points */
    int segments, transposed, bias, accumulate;
    int channels, outputs;
    Axes points, positions, taps, stride, dilation, padding;
    void (*image_pair)(const Tap *tap), (*image_single)(const Tap *tap); /* where x may be an image, */
    void (*copy)(const struct Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap); /* or dy */
    Vector (*sum)(const struct Wgrad *g, const Item *item, int v, Point at);
} Wgrad;

/* ---- tiles ------------------------------------------------------------------------------------------- */

/* Rows from `first` on. The piece of a long row is summed from zero and then added, for sums of few numbers
 * are more exact; through short rows the sums run on. */
INLINE void wgrad_tile(const Tap *tap, int first, int rows, int side_by_side) {
    const int below = side_by_side ? 0 : ROWS;
    const Extent e = extent(rows, side_by_side, LANES);
    real *const a = tap->a + first * LANES, *const b = (side_by_side ? tap->b : tap->a) + first * LANES;
    Tile t = {0};
#define LOAD(r)                                                                                            \
    if (e.a > r)                                                                                           \
        t.a.v##r = load_real(a + (r)*LANES);                                                               \
    if (e.b > r)                                                                                           \
        t.b.v##r = load_real(b + (below + r) * LANES);
#define ADD(r)                                                                                             \
    if (e.a > r)                                                                                           \
        t.a.v##r += load_real(a + (r)*LANES);                                                              \
    if (e.b > r)                                                                                           \
        t.b.v##r += load_real(b + (below + r) * LANES);
#define STORE(r)                                                                                           \
    if (e.a > r)                                                                                           \
        store_real(a + (r)*LANES, t.a.v##r);                                                               \
    if (e.b > r)                                                                                           \
        store_real(b + (below + r) * LANES, t.b.v##r);
    if (tap->runs_on && !tap->fresh) {
        EACH_ROW(LOAD)
    }
    for (int r = 0; r < tap->rows; r++) {
        const real *const x = tap->x[r] + first, *const dy = tap->dy[r];
        tile_multiply(&t, add_factors, tap->depth, (Scalars){x, x + below, 1, tap->x_next},
                      (Weights){dy, side_by_side ? dy + tap->dy_second : dy, tap->dy_next, LANES}, e);
    }
    if (!tap->runs_on && !tap->fresh) {
        EACH_ROW(ADD)
    }
    EACH_ROW(STORE)
#undef LOAD
#undef ADD
#undef STORE
}

/* As few tiles as can be for so many channels, of as equal sizes. A macro, for compilers spend their time
 * on functions around functions. */
#define EACH_TILE(all, side_by_side)                                                                       \
    enum { ALL = all, MOST = (side_by_side) ? ROWS : 2 * ROWS };                                           \
    enum { EACH = (ALL - 1) / ((ALL - 1) / MOST + 1) + 1, LEFT = ALL % EACH };                             \
    for (int first = 0; first < ALL - LEFT; first += EACH)                                                 \
        wgrad_tile(tap, first, EACH, side_by_side);                                                        \
    if (LEFT > 0)                                                                                          \
    wgrad_tile(tap, ALL - LEFT, LEFT, side_by_side)

NOINLINE void wgrad_pair(const Tap *tap) {
    EACH_TILE(BLOCK, 1);
}

NOINLINE void wgrad_single(const Tap *tap) {
    EACH_TILE(BLOCK, 0);
}

/* If how many there are is no constant. */
NOINLINE void wgrad_rows_pair(const Tap *tap) {
    for (int first = 0; first < tap->channels; first++)
        wgrad_tile(tap, first, 1, 1);
}

NOINLINE void wgrad_rows_single(const Tap *tap) {
    for (int first = 0; first < tap->channels; first++)
        wgrad_tile(tap, first, 1, 0);
}

/* ---- what they meet ---------------------------------------------------------------------------------- */

INLINE int all_taps(const Wgrad *g) {
    return g->taps.d * g->taps.h * g->taps.w;
}

/* Taps that a tile takes: of an image, whose pixels lie side by side, a row of them. */
INLINE int taps_at_once(const Wgrad *g, int block) {
    return block < BLOCK && g->dilation.w == 1 && !g->transposed ? g->taps.w : 1;
}

/* Rows of sums for each vector of output channels. */
INLINE long sums_depth(const Wgrad *g) {
    return (long)stored_channels(g->x, g->segments) * all_taps(g) + g->bias;
}

/* Pixels of a row of x that a row of taps meets. */
INLINE int pixels_met(const Wgrad *g, int width) {
    return g->transposed ? width : (width - 1) * g->stride.w + (g->taps.w - 1) * g->dilation.w + 1;
}

/* Elements from a position to the next: of x, or of dy. */
INLINE int x_step(const Wgrad *g, int block) {
    return (g->transposed ? 1 : g->stride.w) * block;
}

INLINE int dy_step(const Wgrad *g) {
    return (g->transposed ? g->stride.w : 1) * g->dy->block;
}

INLINE Axes tap_number(const Wgrad *g, int k) {
    return (Axes){k / (g->taps.h * g->taps.w), k / g->taps.w % g->taps.h, k % g->taps.w};
}

/* The point that a tap meets from position `at` on, if the window slides, else the position itself. */
INLINE Point point_met(const Wgrad *g, int slides, Point at, Axes tap) {
    return slides ? (Point){at.n, at.d * g->stride.d - g->padding.d + tap.d * g->dilation.d,
                            at.h * g->stride.h - g->padding.h + tap.h * g->dilation.h,
                            at.w * g->stride.w - g->padding.w + tap.w * g->dilation.w}
                  : at;
}

/* The first position of row r. Divisions take long, and a piece has few planes. */
INLINE Point row_start(const Wgrad *g, const Piece *piece, int r) {
    Point at = piece->at;
    for (at.h += r - piece->from; at.h >= g->positions.h; at.h -= g->positions.h)
        at.d++;
    return at;
}

/* Finds the rows of x, or of dy, that a tap meets. */
INLINE void rows_find(const Wgrad *g, const Piece *piece, int slides, Axes tap, const stored *tensor,
                      const Layout *layout, int block, const real **row) {
    Point at = point_met(g, slides, piece->at, tap);
    const Axes down = slides ? g->stride : (Axes){1, 1, 1};
    for (int r = 0, left = g->positions.h - piece->at.h; r < piece->to - piece->from; r++, at.h += down.h) {
        row[r] = scalars_at(tensor + offset_of(layout, block, at), NULL);
        if (--left == 0) {
            left = g->positions.h;
            at.h -= left * down.h;
            at.d += down.d;
        }
    }
}

/* Elements of dy that are no whole vectors of `real` are copied, so that they are brought together once. */
INLINE int is_copied(const Wgrad *g) {
    return SIXTEEN_BITS || g->dy->block < BLOCK;
}

/* The begin of the copies of row r. */
INLINE real *x_copy(const Wgrad *g, const Item *item, const Piece *piece, int r) {
    return piece->x + (r - piece->from) * pixels_met(g, piece->width) * item->block;
}

INLINE real *dy_copy(const Item *item, const Piece *piece, int r) {
    return piece->dy + (r - piece->from) * slots(piece->width) * (1 + item->side_by_side) * LANES;
}

/* Copies what row r has of dy: positions, or pairs of them; `used` lanes of each vector. */
INLINE void gradients_copy(const Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap,
                           int used) {
    const int step = dy_step(g), width = (1 + item->side_by_side) * LANES;
    const Point o = point_met(g, g->transposed, row_start(g, piece, r), tap);
    for (int v = 0; v <= item->side_by_side; v++) {
        const stored *dy = item->dy + vector_at(g->dy, item->v + v, o);
        real *to = dy_copy(item, piece, r) + v * LANES;
        int p = 0;
        for (; p + FACTORS <= piece->width; p += FACTORS, dy += FACTORS * step, to += width)
            store_real(to, factors_at(dy, used, dy + step, used));
        if (p < piece->width)
            store_real(to, factors_at(dy, used, dy + step, 0));
    }
}

NOINLINE void wgrad_copy(const Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap) {
    gradients_copy(g, item, piece, r, tap, LANES);
}

/* ---- by registers for matrices -------------------------------------------------------------------- */

#ifdef MATRICES
/* The product of dy, whose rows are outputs and columns positions, with pairs of positions of x, as
 * pixels_copy() has them.  Sums have a row for each lane of dy and a column for each channel of a block of
 * x. */
INLINE int in_matrices(const Wgrad *g, const Item *item) {
    return item->block == BLOCK && g->dy->block == BLOCK;
}

enum { STEP = 32 }; /* positions that an instruction takes */

INLINE int whole_steps(int width) {
    return (width + STEP - 1) / STEP * STEP;
}

INLINE stored *dy_turned(const Item *item, const Piece *piece, int r) {
    stored *const first = (void *)piece->dy;
    return first + (r - piece->from) * (1 + item->side_by_side) * LANES * whole_steps(piece->width);
}

#ifdef __clang__
#define MIXED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define MIXED(a, b, ...) __builtin_shuffle(a, b, (Halves){__VA_ARGS__})
#endif
/* From each half of a and of b: the first or the last ones, one, two or four at a time. */
#define FIRST_1(a, b) MIXED(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 8, 24, 9, 25, 10, 26, 11, 27)
#define LAST_1(a, b) MIXED(a, b, 4, 20, 5, 21, 6, 22, 7, 23, 12, 28, 13, 29, 14, 30, 15, 31)
#define FIRST_2(a, b) MIXED(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 8, 9, 24, 25, 10, 11, 26, 27)
#define LAST_2(a, b) MIXED(a, b, 4, 5, 20, 21, 6, 7, 22, 23, 12, 13, 28, 29, 14, 15, 30, 31)
#define FIRST_4(a, b) MIXED(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define LAST_4(a, b) MIXED(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define FIRST_8(a, b) MIXED(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define LAST_8(a, b) MIXED(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)

/* Eight positions of lanes: number i of `lane` has lane i of all of them, and then lane 8 + i. */
INLINE void eight_turn(Halves *lane, const Halves *at) {
    const Halves a = FIRST_1(at[0], at[1]), b = LAST_1(at[0], at[1]), c = FIRST_1(at[2], at[3]),
                 d = LAST_1(at[2], at[3]), e = FIRST_1(at[4], at[5]), f = LAST_1(at[4], at[5]),
                 g = FIRST_1(at[6], at[7]), h = LAST_1(at[6], at[7]);
    const Halves p = FIRST_2(a, c), q = FIRST_2(e, g), r = LAST_2(a, c), s = LAST_2(e, g),
                 t = FIRST_2(b, d), u = FIRST_2(f, h), v = LAST_2(b, d), w = LAST_2(f, h);
    lane[0] = FIRST_4(p, q), lane[1] = LAST_4(p, q), lane[2] = FIRST_4(r, s), lane[3] = LAST_4(r, s);
    lane[4] = FIRST_4(t, u), lane[5] = LAST_4(t, u), lane[6] = FIRST_4(v, w), lane[7] = LAST_4(v, w);
}

/* Lanes become rows, `row` elements apart, of sixteen positions each. */
INLINE void sixteen_turn(stored *to, int row, const Halves *at) {
    Halves front[8], behind[8];
    eight_turn(front, at);
    eight_turn(behind, at + 8);
    for (int i = 0; i < 8; i++) {
        *(UnalignedHalves *)(void *)(to + i * row) = FIRST_8(front[i], behind[i]);
        *(UnalignedHalves *)(void *)(to + (8 + i) * row) = LAST_8(front[i], behind[i]);
    }
}

/* Copies what row r has of dy, with zeros behind it. */
UNUSED static void gradients_turn(const Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap) {
    const int step = dy_step(g), all = whole_steps(piece->width);
    const Point o = point_met(g, g->transposed, row_start(g, piece, r), tap);
    for (int v = 0; v <= item->side_by_side; v++) {
        const stored *dy = item->dy + vector_at(g->dy, item->v + v, o);
        stored *const to = dy_turned(item, piece, r) + v * LANES * all;
        for (int p = 0; p < all; p += LANES) {
            Halves at[LANES];
            for (int i = 0; i < LANES; i++)
                at[i] = halves(dy + (long)(p + i) * step, p + i < piece->width ? LANES : 0);
            sixteen_turn(to + p, all, at);
        }
    }
}

/* Adds the products of a tap. */
NOINLINE void sums_add(const Tap *tap, const Item *item, const Piece *piece) {
    const int all = whole_steps(piece->width), pair = item->side_by_side;
    MATRIX_ZERO(SUM_0);
    MATRIX_ZERO(SUM_1);
    if (!tap->fresh) {
        MATRIX_LOAD(SUM_0, tap->a, 64);
        if (pair)
            MATRIX_LOAD(SUM_1, tap->b, 64);
    }
    for (int r = 0; r < tap->rows; r++)
        for (int p = 0; p < all; p += STEP) {
            const stored *dy = dy_turned(item, piece, piece->from + r) + p;
            MATRIX_LOAD(W_WHOLE, tap->x[r] + p / FACTORS * tap->x_next, tap->x_next * (long)sizeof(real));
            MATRIX_LOAD(X_WHOLE, dy, 2L * all);
            MATRIX_ADD(SUM_0, X_WHOLE, W_WHOLE);
            if (pair) {
                MATRIX_LOAD(X_WHOLE, dy + LANES * all, 2L * all);
                MATRIX_ADD(SUM_1, X_WHOLE, W_WHOLE);
            }
        }
    MATRIX_STORE(SUM_0, tap->a, 64);
    if (pair)
        MATRIX_STORE(SUM_1, tap->b, 64);
}
#endif

/* Copies row r of x: pixels, or pairs of pixels of neighbouring positions. */
UNUSED static void pixels_copy(const Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap) {
    const int count = pixels_met(g, piece->width) * item->block, apart = x_step(g, item->block);
    const Point i = point_met(g, !g->transposed, row_start(g, piece, r), tap);
    const stored *x = item->x + offset_of(item->layout, item->number, i);
    real *copy = x_copy(g, item, piece, r);
    if (FACTORS == 1)
        scalars(x, copy, count);
    for (int at = 0; FACTORS > 1 && at < count; at += LANES)
        store_real(copy + at, factors_at(x + at, count - at, x + at + apart, count - at - apart));
}

/* Copies what a tap meets, unless it is there: of x all that its row of taps meets; of positions, what all
 * taps meet. */
UNUSED static void copy_met(const Wgrad *g, const Item *item, const Piece *piece, Axes tap, int first) {
    for (int r = piece->from; r < piece->to; r++) {
        if (SIXTEEN_BITS && (first || (!g->transposed && tap.w == 0)))
            pixels_copy(g, item, piece, r, (Axes){tap.d, tap.h, 0});
        const int copies = first || g->transposed;
#ifdef MATRICES
        if (copies && in_matrices(g, item)) {
            gradients_turn(g, item, piece, r, tap);
            continue;
        }
#endif
        if (copies)
            g->copy(g, item, piece, r, tap);
    }
}

/* Finds the numbers that all taps of a piece have in common. */
UNUSED static void piece_find(const Wgrad *g, const Item *item, const Piece *piece, Tap *tap) {
    const int copied = is_copied(g), part = item->v % PARTS;
    tap->channels = taps_at_once(g, item->block) * item->block;
    tap->rows = piece->to - piece->from;
    tap->depth = slots(piece->width);
    tap->fresh = piece->fresh;
    tap->runs_on = g->positions.w <= SHORT_ROW;
    tap->x_next = FACTORS * x_step(g, item->block);
    tap->dy_next = copied ? (1 + item->side_by_side) * LANES : dy_step(g);
    tap->dy_second = copied || part + 1 < PARTS ? LANES : g->dy->plane - part * LANES;
}

/* Finds what tap k and those at once with it meet, where that is not what the one before met. Sums lie as
 * tiles want them: [vector of CO][block of input channels, tap, channel of the block; then the bias][lane].
 */
UNUSED static void tap_find(const Wgrad *g, const Item *item, const Piece *piece, int k, Axes number,
                            Tap *tap) {
    const int first = k == item->from, pixel = g->transposed ? 0 : number.w * g->dilation.w;
    tap->a = item->sums + (item->v * item->depth + item->channel * all_taps(g) + k * item->block) * LANES;
    tap->b = tap->a + item->depth * LANES;
    for (int r = piece->from; SIXTEEN_BITS && r < piece->to; r++)
        tap->x[r - piece->from] = x_copy(g, item, piece, r) + pixel * item->block;
    if (!SIXTEEN_BITS && (first || !g->transposed))
        rows_find(g, piece, !g->transposed, number, item->x, item->layout, item->number, tap->x);
    for (int r = piece->from; is_copied(g) && r < piece->to; r++)
        tap->dy[r - piece->from] = dy_copy(item, piece, r);
    if (!is_copied(g) && (first || g->transposed))
        rows_find(g, piece, g->transposed, number, item->dy + item->v % PARTS * LANES, g->dy,
                  item->v / PARTS, tap->dy);
}

/* The one behind it, or, of an image, the first of the next row. */
INLINE Axes next_tap(const Wgrad *g, Axes tap, int at_once) {
    tap.w += at_once;
    if (tap.w == g->taps.w)
        tap.w = 0, tap.h++;
    if (tap.h == g->taps.h)
        tap.h = 0, tap.d++;
    return tap;
}

/* ---- the work ---------------------------------------------------------------------------------------- */

/* Vector v of the sum over the row of dy that begins at a point, `used` lanes. */
INLINE Vector row_sum(const Wgrad *g, const Item *item, int v, Point at, int used) {
    return points_sum(item->dy + vector_at(g->dy, v, at), g->dy->block, g->points.w, used);
}

NOINLINE Vector wgrad_row_sum(const Wgrad *g, const Item *item, int v, Point at) {
    return row_sum(g, item, v, at, LANES);
}

/* Adds the points of dy that belong to a row of positions, which begins at p, to the sums for the bias. */
UNUSED static void wgrad_bias(const Wgrad *g, const Item *item, Point p, int fresh) {
    Rows planes = {p.d, p.d + 1}, lines = {p.h, p.h + 1};
    if (g->transposed) {
        planes = points_of(p.d, g->positions.d, g->stride.d, g->padding.d, g->points.d);
        lines = points_of(p.h, g->positions.h, g->stride.h, g->padding.h, g->points.h);
    }
    for (int v = item->v; v <= item->v + item->side_by_side; v++) {
        real *at = item->sums + ((v + 1) * item->depth - 1) * LANES;
        Vector sum = fresh ? (Vector){0} : load_real(at);
        for (int d = planes.begin; d < planes.end; d++)
            for (int h = lines.begin; h < lines.end; h++)
                sum += g->sum(g, item, v, (Point){item->n, d, h, 0});
        store_real(at, sum);
    }
}

/* The bias is one more tap. */
UNUSED static void wgrad_piece(const Wgrad *g, const Item *item, const Piece *piece) {
    const int taps = all_taps(g), at_once = taps_at_once(g, item->block);
    Axes number = item->first;
    Tap tap;
    piece_find(g, item, piece, &tap);
    for (int k = item->from; k < min_int(item->to, taps); k += at_once) {
        if (is_copied(g))
            copy_met(g, item, piece, number, k == item->from);
        tap_find(g, item, piece, k, number, &tap);
        number = next_tap(g, number, at_once);
#ifdef MATRICES
        if (in_matrices(g, item)) {
            sums_add(&tap, item, piece);
            continue;
        }
#endif
        if (item->block < BLOCK)
            (item->side_by_side ? g->image_pair : g->image_single)(&tap);
        else if (item->side_by_side)
            wgrad_pair(&tap);
        else
            wgrad_single(&tap);
    }
    for (int r = piece->from; item->to > taps && piece->at.w == 0 && r < piece->to; r++)
        wgrad_bias(g, item, row_start(g, piece, r), piece->fresh && r == piece->from);
}

/* The rows piece by piece, each small enough to stay in the cache for all taps. */
UNUSED static void wgrad_pieces(const Wgrad *g, const Item *item, Rows range, int begins, real *copies) {
    const int width = g->positions.w, height = g->positions.h, strip = STRIP(width);
    real *x = copies + strip * COPIED_DY(min_int(width, PIXELS));
    for (int r = range.begin; r < range.end; r += strip)
        for (int left = 0; left < width; left += PIXELS) {
            const Point at = {item->n, r / height, r % height, left};
            const int to = min_int(r + strip, range.end), fresh = begins && r == 0 && left == 0;
            const Piece piece = {at, r, to, min_int(PIXELS, width - left), fresh, x, copies};
            wgrad_piece(g, item, &piece);
        }
}

/* Parts of the work on a block of a segment of x and a pair of vectors of dy. */
UNUSED static int wgrad_parts(const Wgrad *g, int s, int number) {
    return all_taps(g) / taps_at_once(g, g->x[s].block) + (g->bias && s == 0 && number == 0);
}

/* Does this thread's share of the work on a range of rows of sample i: of all parts in order, as many as
 * others do. */
UNUSED static void wgrad_share(const Wgrad *g, real *sums, const stored *const *x, const stored *dy, int i,
                               Rows range, int begins, real *copies) {
    const int pairs = (vectors(g->dy) + 1) / 2;
    int parts = 0;
    for (int s = 0; s < g->segments; s++)
        for (int b = 0; b < g->x[s].blocks; b++)
            parts += wgrad_parts(g, s, b) * pairs;
    const int begin = (int)((long)parts * omp_get_thread_num() / omp_get_num_threads()),
              end = (int)((long)parts * (omp_get_thread_num() + 1) / omp_get_num_threads());
    for (int s = 0, first = 0, at = 0; s < g->segments; first += g->x[s].blocks * g->x[s].block, s++) {
        const Layout *in = &g->x[s];
        for (int b = 0; b < in->blocks; b++)
            for (int v = 0; v < vectors(g->dy); v += 2, at += wgrad_parts(g, s, b)) {
                Item item = {.sums = sums, .x = x[s], .dy = dy, .layout = in, .n = i, .number = b, .v = v};
                item.depth = sums_depth(g);
                item.channel = first + b * in->block;
                item.block = in->block;
                item.side_by_side = v + 1 < vectors(g->dy);
                item.from = max_int(begin - at, 0) * taps_at_once(g, in->block);
                item.to = min_int(end - at, wgrad_parts(g, s, b)) * taps_at_once(g, in->block);
                item.first = tap_number(g, item.from);
                if (item.from < item.to)
                    wgrad_pieces(g, &item, range, begins, copies);
            }
    }
}

/* The sums run on through the rows and the samples. They are kept in `sums`; or they lie in `scratch`, to
 * go to dw with the last row. */
UNUSED static void wgrad(const Wgrad *g, int n, Rows rows, real *dw, real *db, real *scratch, real *sums,
                         const stored *const *x, const stored *dy, real *copies) {
    const long taps = all_taps(g), out = g->transposed ? taps : g->channels * taps,
               in = g->transposed ? g->outputs * taps : taps;
    const int begins = rows.begin == 0, brings = sums == NULL;
    real *const at = brings ? scratch : sums;
    if (rows.begin == rows.end)
        return;
#ifdef MATRICES
    matrices_begin();
#endif
    if (brings && begins && g->accumulate)
        weights_gather(at, dw, g->bias ? db : NULL, g->x, g->segments, g->dy, taps, out, in, BLOCK);
    for (int i = 0; i < n; i++)
        wgrad_share(g, at, x, dy, i, rows, begins && i == 0 && !g->accumulate, copies);
#ifdef MATRICES
    matrices_end();
#endif
#pragma omp barrier
    if (brings && rows.end == g->positions.d * g->positions.h)
        weights_spread(dw, g->bias ? db : NULL, at, g->x, g->segments, g->outputs, taps, out, in, BLOCK);
}
/* END */
