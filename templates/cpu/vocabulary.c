/* vocabulary.c - the logits of points for many classes: the loss of a language model and its gradient are
 * made of logits.
 *
 * Points that do not count are left out: a list has the others, in their order.  Kernels take PART_POINTS
 * of the list at a time, and copy their channels twice: as rows, and as a panel whose lanes are points.
 * Groups of classes are computed beside each other, and each makes SOME_CLASSES at a time: so there are
 * never more than GROUPS x SOME_CLASSES x PART_POINTS logits.  The parts of points and the groups follow
 * from the shape alone, and so does the order of every sum.
 *
 * The sizes stand in compiler/cpu/sizes.c, too.
 */
#include "prologue.c"

/* BEGIN */
enum { PART_POINTS = 128, SOME_CLASSES = 64, CLASS_GROUPS = 16 };
_Static_assert(PART_POINTS % (2 * LANES) == 0, "whole tiles");

/* The points of all samples, a table with a row for each class, and a bias or NULL. */
typedef struct {
    const stored *x;
    const void *t;
    const real *w, *b;
    const Layout *of_x, *of_t;
    int staged, channels, width, points;
    long classes;
} Vocabulary;

/* `scratch`: the list of points and their classes, with their number in front; for a part of the list the
 * channels of its points, and a block of logits for each group; behind these the numbers of a kernel. */
typedef struct {
    int64_t *count, *point, *class;
    real *panel, *rows, *logits, *more;
} Listed;

INLINE long row_elements(int channels) {
    return (channels + BLOCK - 1) / BLOCK * BLOCK;
}

INLINE Listed listed(void *scratch, long points, int channels) {
    int64_t *const list = scratch;
    real *const panel = (real *)(list + (1 + 2 * points + 7) / 8 * 8);
    real *const rows = panel + PART_POINTS * row_elements(channels), *const logits =
                                                                         rows + PART_POINTS *
                                                                                    row_elements(channels);
    return (Listed){list,
                    list + 1,
                    list + 1 + points,
                    panel,
                    rows,
                    logits,
                    logits + (long)CLASS_GROUPS * SOME_CLASSES * PART_POINTS};
}

INLINE Point point_of(const Vocabulary *by, long point) {
    const int at = (int)(point % by->points);
    return (Point){(int)(point / by->points), 0, at / by->width, at % by->width};
}

/* Lists the points that count, and their classes. */
NOINLINE void list_points(Listed list, const Vocabulary *by, long points) {
    long count = 0;
    for (long point = 0; point < points; point++) {
        const double number =
            (double)load_either(by->staged, by->t, offset_of(by->of_t, 0, point_of(by, point)), 1)[0];
        if (!(number >= -0.5 && number < (double)by->classes - 0.5))
            continue;
        list.point[count] = point;
        list.class[count++] = (int64_t)(number + 0.5);
    }
    *list.count = count;
}

INLINE int points_of_part(Listed list, long first) {
    return (int)(*list.count - first < PART_POINTS ? *list.count - first : PART_POINTS);
}

/* Copies the channels of point K of a part; zeros stand behind the last point, and behind the channels. */
NOINLINE void copy_point(Listed list, const Vocabulary *by, long first, int k) {
    const long elements = row_elements(by->channels);
    real *const row = list.rows + k * elements;
    memset(row, 0, (size_t)elements * sizeof *row);
    if (first + k < *list.count)
        for (int v = 0; v * LANES < by->channels; v++)
            store_real(row + v * LANES,
                       load_some(by->x + vector_at(by->of_x, v, point_of(by, list.point[first + k])),
                                 lanes(by->of_x, v)));
    for (int c = 0; c < by->channels; c++)
        list.panel[(long)c * PART_POINTS + k] = row[c];
}

/* Sums of products: out[r * of_out + lane] is, or has added, the sum over `terms` numbers k of
 * a[r * of_row + k * of_term] * b[k * of_b + lane]. */
typedef struct {
    real *out;
    const real *a, *b;
    long of_out, of_row, of_term, of_b;
    int terms, adds;
} Products;

INLINE void add_products_of(Products p, Extent e) {
    const Spot at = {0, LANES, p.of_out};
    Tile sums = p.adds ? tile_load(1, p.out, at, e) : (Tile){0};
    tile_multiply(&sums, add_product, p.terms, (Scalars){p.a, p.a, p.of_row, p.of_term},
                  (Weights){p.b, p.b + (e.b > 0 ? LANES : 0), p.of_b, e.lanes}, e);
    tile_store(1, p.out, at, sums, e);
}

/* ROWS rows of two vectors, */
NOINLINE_TILES void add_tile(Products p) {
    add_products_of(p, (Extent){ROWS, ROWS, LANES});
}

/* and one row of the first lanes of one vector. */
NOINLINE void add_row(Products p, int lanes) {
    add_products_of(p, (Extent){1, 0, lanes});
}

INLINE Products moved(Products p, int row, int column) {
    p.out += row * p.of_out + column;
    p.a += row * p.of_row;
    p.b += column;
    return p;
}

/* So many rows and columns of products.  A number has the same bits in a tile and in a row. */
NOINLINE void add_all(Products p, int rows, int columns) {
    for (int column = 0; column < columns;) {
        const int width = columns - column >= 2 * LANES ? 2 * LANES : min_int(LANES, columns - column);
        int row = 0;
        for (; width == 2 * LANES && row + ROWS <= rows; row += ROWS)
            add_tile(moved(p, row, column));
        for (; row < rows; row++)
            for (int begin = 0; begin < width; begin += LANES)
                add_row(moved(p, row, column + begin), min_int(LANES, width - begin));
        column += width;
    }
}

/* The first class of a group. */
INLINE long group_begin(const Vocabulary *by, int group) {
    return by->classes * group / CLASS_GROUPS;
}

INLINE int classes_from(const Vocabulary *by, int group, long first) {
    const long left = group_begin(by, group + 1) - first;
    return (int)(left < SOME_CLASSES ? left : SOME_CLASSES);
}

/* The logits of some classes, from FIRST on, for all points of a part: a row for each class. */
NOINLINE void make_logits(real *logits, Listed list, const Vocabulary *by, long first, int count) {
    for (int j = 0; j < count; j++) {
        const Vector bias = (Vector){0} + (by->b == NULL ? 0 : by->b[first + j]);
        for (int k = 0; k < PART_POINTS; k += LANES)
            store_real(logits + j * PART_POINTS + k, bias);
    }
    add_all((Products){logits, by->w + first * by->channels, list.panel, PART_POINTS, by->channels, 1,
                       PART_POINTS, by->channels, 1},
            count, PART_POINTS);
}
/* END */
