/* attentions.c - what attention and its gradient share: blocks of points as matrices, and their products.
 *
 * The points of a block lie in the lanes of vectors; as many others lie in rows of scalars.  So sums over a
 * row of the softmax stay in their lanes.  Both are copies: a head may begin anywhere in a vector, and
 * there may be a halo between two rows of an image. */
#include "prologue.c"

/* BEGIN */
#include <float.h>
#include <math.h>
#include <omp.h>

enum { BLOCK_POINTS = 32 }; /* whole vectors */

/* A map is rolled by -shift and cut into windows.  A map by itself is one window.  The points of a bias
 * belong to the differences of two points of a window, or to all pairs of queries and keys, row by row.
 * PAIRS: the number of keys then, else 0. */
typedef struct {
    Axes map, window, shift, bias;
    int pairs;
} Windows;

/* Points of a window, of a sample, for a head. */
typedef struct {
    int n, g, window, first;
} Part;

/* Tasks have a block each, in the order of samples, heads, windows. */
INLINE Part part_of(int task, int heads, int windows, int blocks) {
    const int window = task / blocks;
    return (Part){window / windows / heads, window / windows % heads, window % windows,
                  task % blocks * BLOCK_POINTS};
}

/* The channels of a head in a tensor, at the points of a window. */
typedef struct {
    const Layout *layout;
    Windows windows;
    int points, window;  /* of a window; its number */
    int first, channels; /* of the head */
} Head;

INLINE int is_rolled(const Windows *w) {
    return w->shift.d + w->shift.h + w->shift.w > 0;
}

INLINE int rolled_back(int at, int shift, int extent) {
    return at + shift < extent ? at + shift : at + shift - extent;
}

/* The place of point i of a window on the rolled map, */
INLINE Axes rolled(const Windows *w, int window, int i) {
    const int columns = w->map.w / w->window.w, rows = w->map.h / w->window.h;
    return (Axes){window / columns / rows * w->window.d + i / w->window.w / w->window.h,
                  window / columns % rows * w->window.h + i / w->window.w % w->window.h,
                  window % columns * w->window.w + i % w->window.w};
}

/* and on the map. */
INLINE Point point_of(const Head *h, int n, int i) {
    const Windows *const w = &h->windows;
    const Axes at = rolled(w, h->window, i);
    return (Point){n, rolled_back(at.d, w->shift.d, w->map.d), rolled_back(at.h, w->shift.h, w->map.h),
                   rolled_back(at.w, w->shift.w, w->map.w)};
}

/* The block's points from `first` on, row by row; beyond the last one rows of zeros. */
INLINE void head_load(real *rows, const stored *x, const Head *h, int n, int first) {
    for (int i = 0; i < BLOCK_POINTS; i++) {
        real *const to = rows + i * h->channels - h->first;
        const int there = first + i < h->points;
        const Point at = point_of(h, n, there ? first + i : 0);
        for (int v = h->first / LANES; v * LANES < h->first + h->channels; v++) {
            const Vector values =
                there ? load_some(x + vector_at(h->layout, v, at), lanes(h->layout, v)) : (Vector){0};
            if (v * LANES >= h->first && (v + 1) * LANES <= h->first + h->channels) {
                store_real(to + v * LANES, values);
                continue;
            }
            for (int lane = 0; lane < LANES; lane++)
                if (v * LANES + lane >= h->first && v * LANES + lane < h->first + h->channels)
                    to[v * LANES + lane] = values[lane];
        }
    }
}

/* The way back.  Behind the last head channels that only pad are zero.  Vectors that two heads share are
 * written number by number, for another thread writes the others. */
INLINE void head_store(stored *x, const real *rows, const Head *h, int n, int first) {
    const int behind = h->first + h->channels, is_last = behind == h->layout->channels;
    for (int i = 0; i < BLOCK_POINTS && first + i < h->points; i++) {
        const real *const from = rows + i * h->channels - h->first;
        const Point at = point_of(h, n, first + i);
        for (int v = h->first / LANES; v < vectors(h->layout) && (is_last || v * LANES < behind); v++) {
            stored *const to = x + vector_at(h->layout, v, at);
            if (v * LANES >= h->first && (v + 1) * LANES <= behind) {
                store(to, load_real(from + v * LANES));
                continue;
            }
            const int begin = max_int(h->first - v * LANES, 0);
            const int end = is_last ? lanes(h->layout, v) : behind - v * LANES;
            for (int lane = begin; lane < min_int(end, LANES); lane++) {
                const real value = v * LANES + lane < behind ? from[v * LANES + lane] : 0;
                store_some(to + lane, (Vector){value}, 1);
            }
        }
    }
}

/* Points become lanes, times a factor; and the way back. */
INLINE void turn(real *columns, const real *rows, int channels, real factor) {
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < BLOCK_POINTS; i++)
            columns[c * BLOCK_POINTS + i] = rows[i * channels + c] * factor;
}

INLINE void turn_back(real *rows, const real *columns, int channels, real factor) {
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < BLOCK_POINTS; i++)
            rows[i * channels + c] = columns[c * BLOCK_POINTS + i] * factor;
}

/* A product of rows that lie `row` apart, whose numbers lie `next` apart, with `depth` rows of w.  Rows of
 * the product and of w have a number for each point of the block.  `adds`: to the numbers that are there.
 */
typedef struct {
    const real *x, *w;
    int row, next, depth, adds;
} Factors;

/* Rows from `first` on, as many as `rows` says, which is constant. */
INLINE void multiply_rows(real *product, const Factors *of, int first, int rows) {
    const real *const x = of->x + (long)first * of->row;
    const Extent e = {rows, rows, LANES};
    for (int lane = 0; lane < BLOCK_POINTS; lane += 2 * LANES) {
        const long at = (long)first * BLOCK_POINTS + lane;
        const Spot spot = {at, at + LANES, BLOCK_POINTS};
        const real *const w = of->w + lane;
        Tile t = of->adds ? tile_load(1, product, spot, e) : (Tile){0};
        tile_multiply(&t, add_product, of->depth, (Scalars){x, x, of->row, of->next},
                      (Weights){w, w + LANES, BLOCK_POINTS, LANES}, e);
        tile_store(1, product, spot, t, e);
    }
}

INLINE void multiply(real *product, Factors of, int count) {
    int r = 0;
    for (; r + ROWS <= count; r += ROWS)
        multiply_rows(product, &of, r, ROWS);
    if (count % ROWS > 0)
        multiply_rows(product, &of, r, count % ROWS);
}

/* The products of points in rows with points of the block, over the channels; */
INLINE void multiply_points(real *product, const real *rows, const real *columns, int channels) {
    multiply(product, (Factors){rows, columns, channels, 1, channels, 0}, BLOCK_POINTS);
}

/* and sums of points in rows, for each channel and each point of the block, times the table of both. */
INLINE void add_points(real *sums, const real *rows, const real *table, int channels) {
    multiply(sums, (Factors){rows, table, 1, channels, BLOCK_POINTS, 1}, channels);
}

/* Products have a row for each point from `first` on, and a lane for each point from `lane` on.  A row
 * behind the last point becomes -infinity.  If `causal`, a product becomes -infinity, too, if its key
 * stands behind its query.  With `row_asks` the rows are queries, else the lanes are. */
INLINE void hide(real *products, int first, int lane, int points, int causal, int row_asks) {
    for (int r = 0; r < BLOCK_POINTS; r++)
        for (int i = 0; i < BLOCK_POINTS; i++) {
            const int row = first + r, column = lane + i;
            if (row >= points || (causal && (row_asks ? column > row : row > column)))
                products[r * BLOCK_POINTS + i] = -INFINITY;
        }
}

/* The places of the points of a block.  The difference of two codes tells where one point is from the
 * other.  The ends of the map meet within some windows: points on different sides do not see each other. */
typedef struct {
    int code[BLOCK_POINTS], side[BLOCK_POINTS];
} Places;

/* Points behind the last one have its place. */
INLINE void find_places(Places *places, const Head *h, int first) {
    const Windows *const w = &h->windows;
    const Axes window = w->window;
    for (int k = 0; k < BLOCK_POINTS; k++) {
        const int i = min_int(first + k, h->points - 1);
        const Axes at = rolled(w, h->window, i);
        places->code[k] =
            (i / window.w / window.h * (2 * window.h - 1) + i / window.w % window.h) * (2 * window.w - 1) +
            i % window.w;
        places->side[k] = (at.d >= w->map.d - w->shift.d) + 2 * (at.h >= w->map.h - w->shift.h) +
                          4 * (at.w >= w->map.w - w->shift.w);
    }
}

/* The number of the difference of a query and a key, whose codes differ by this. */
INLINE int difference(const Windows *w, int codes) {
    const Axes window = w->window;
    return codes + ((window.d - 1) * (2 * window.h - 1) + window.h - 1) * (2 * window.w - 1) + window.w - 1;
}

INLINE int bias_points(const Windows *w) {
    return w->bias.d * w->bias.h * w->bias.w;
}

/* The numbers of a bias of differences that a slot has, in whole blocks, so that memory behind the numbers
 * begins where vectors do.  A bias of pairs is read where it lies. */
INLINE long bias_elements(const Windows *w) {
    return w->pairs > 0 ? 0 : (bias_points(w) + BLOCK_POINTS - 1) / BLOCK_POINTS * BLOCK_POINTS;
}

/* A point of a bias, or of its gradient, by its number. */
INLINE Point point_of_bias(const Windows *w, int n, int number) {
    return (Point){n, number / w->bias.w / w->bias.h, number / w->bias.w % w->bias.h, number % w->bias.w};
}

INLINE real bias_at(const stored *b, const Layout *l, int g, Point at) {
    return load_some(b + vector_at(l, g / LANES, at) + g % LANES, 1)[0];
}

/* A head's bias of differences in one piece. */
INLINE void bias_load(real *bias, const stored *b, const Layout *l, const Windows *w, int n, int g) {
    for (int number = 0; number < bias_elements(w) && number < bias_points(w); number++)
        bias[number] = bias_at(b, l, g, point_of_bias(w, n, number));
}

/* Adds a head's bias of pairs to products, as hide() has them.  Points behind the last one have its bias.
 */
INLINE void add_pairs(real *products, const stored *b, const Layout *l, const Windows *w, int n, int g,
                      int first, int lane, int row_asks) {
    const int queries = bias_points(w) / w->pairs;
    for (int r = 0; r < BLOCK_POINTS; r++)
        for (int i = 0; i < BLOCK_POINTS; i++) {
            const int query = min_int(row_asks ? first + r : lane + i, queries - 1),
                      key = min_int(row_asks ? lane + i : first + r, w->pairs - 1);
            products[r * BLOCK_POINTS + i] += bias_at(b, l, g, point_of_bias(w, n, query * w->pairs + key));
        }
}

/* To products, as hide() has them, or from slopes to the sums of each difference. */
INLINE void add_bias(real *products, const real *bias, const Windows *w, const Places *row,
                     const Places *lane, int row_asks) {
    for (int r = 0; r < BLOCK_POINTS; r++)
        for (int i = 0; i < BLOCK_POINTS; i++) {
            const int codes = row_asks ? row->code[r] - lane->code[i] : lane->code[i] - row->code[r];
            products[r * BLOCK_POINTS + i] += bias[difference(w, codes)];
        }
}

/* Rows are keys, lanes are queries, as many as there are. */
INLINE void sum_slopes(real *sums, const real *slopes, const Windows *w, const Places *row,
                       const Places *lane, int rows, int lanes_used) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < lanes_used; i++)
            sums[difference(w, lane->code[i] - row->code[r])] += slopes[r * BLOCK_POINTS + i];
}

/* The same for each pair, in a table with a row for each query. */
INLINE void sum_pairs(real *sums, const real *slopes, const Windows *w, int first_key, int first_query,
                      int rows, int lanes_used) {
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < lanes_used; i++)
            sums[(long)(first_query + i) * w->pairs + first_key + r] += slopes[r * BLOCK_POINTS + i];
}

INLINE void hide_other_sides(real *products, const Places *row, const Places *lane) {
    for (int r = 0; r < BLOCK_POINTS; r++)
        for (int i = 0; i < BLOCK_POINTS; i++)
            if (row->side[r] != lane->side[i])
                products[r * BLOCK_POINTS + i] = -INFINITY;
}

/* Is there anything to hide?  Blocks begin at multiples of their size. */
INLINE int hides(int first, int lane, int points, int causal) {
    return first + BLOCK_POINTS > points || (causal && first == lane);
}

/* A task of so many has its blocks in a slot of its own, or in one that its thread has. */
INLINE real *slot_of(real *scratch, long elements, int slots, int tasks, int task) {
    return scratch + elements * (tasks <= slots ? task : omp_get_thread_num());
}
/* END */
