/* channel_tables.c - attention over channels and its gradient share tables, which have a row for each
 * channel of q in a head and a column for each channel of k.
 *
 * A table lies in panels of BLOCK_POINTS columns, row by row.  Entries are sums over points, which a band
 * of points makes from blocks of rows and columns; products with a table have points in the lanes. */
#include "attentions.c"

/* BEGIN */
/* Behind a table there is a number for each row and one for each column. */
typedef struct {
    real *of, *by_row, *by_column;
    int rows, columns;
} Table;

INLINE long whole_blocks(int count) {
    return (long)(count + BLOCK_POINTS - 1) / BLOCK_POINTS * BLOCK_POINTS;
}

INLINE long table_elements(int rows, int columns) {
    return rows * whole_blocks(columns) + whole_blocks(rows) + whole_blocks(columns);
}

INLINE Table table_at(real *at, int rows, int columns) {
    real *const by_row = at + rows * whole_blocks(columns);
    return (Table){at, by_row, by_row + whole_blocks(rows), rows, columns};
}

/* The panel's part of a row, which begins with column `first`. */
INLINE real *table_row(const Table *t, int row, int first) {
    return t->of + ((long)first / BLOCK_POINTS * t->rows + row) * BLOCK_POINTS;
}

/* Adds the products of channels in a block of points.  `panel` is scratch of a block of blocks. */
INLINE void table_add(const Table *t, const real *rows, const real *columns, real *panel) {
    for (int first = 0; first < t->columns; first += BLOCK_POINTS) {
        for (int i = 0; i < BLOCK_POINTS; i++)
            for (int c = 0; c < BLOCK_POINTS; c++)
                panel[i * BLOCK_POINTS + c] =
                    first + c < t->columns ? columns[(long)i * t->columns + first + c] : 0;
        multiply(table_row(t, 0, first), (Factors){rows, panel, 1, t->rows, BLOCK_POINTS, 1}, t->rows);
    }
}

/* Adds the squares of channels in a block of points. */
INLINE void add_squares(real *sums, const real *rows, int channels) {
    for (int i = 0; i < BLOCK_POINTS; i++)
        for (int c = 0; c < channels; c++)
            sums[c] += rows[(long)i * channels + c] * rows[(long)i * channels + c];
}

/* Turns a row, times a factor, into shares, which add up to 1. */
INLINE void table_softmax(const Table *t, int row, real factor) {
    real largest = -INFINITY, sum = 0;
    for (int j = 0; j < t->columns; j++) {
        real *const at = table_row(t, row, j) + j % BLOCK_POINTS;
        *at *= factor;
        largest = *at > largest || *at != *at ? *at : largest;
    }
    for (int first = 0; first < t->columns; first += BLOCK_POINTS)
        for (int lane = 0; lane < BLOCK_POINTS; lane += LANES) {
            real *const at = table_row(t, row, first) + lane;
            store_real(at, vector_exp(load_real(at) - largest));
        }
    for (int j = 0; j < t->columns; j++)
        sum += table_row(t, row, j)[j % BLOCK_POINTS];
    for (int j = 0; j < t->columns; j++)
        table_row(t, row, j)[j % BLOCK_POINTS] /= sum;
}

/* Sums over columns: for each row and each point of a block, x has a row for each column; */
INLINE void sum_columns(real *sums, const Table *t, const real *x) {
    for (int first = 0; first < t->columns; first += BLOCK_POINTS)
        multiply(sums,
                 (Factors){table_row(t, 0, first), x + (long)first * BLOCK_POINTS, BLOCK_POINTS, 1,
                           min_int(t->columns - first, BLOCK_POINTS), first > 0},
                 t->rows);
}

/* and sums over rows: for each column, x has a row for each row. */
INLINE void sum_rows(real *sums, const Table *t, const real *x) {
    for (int first = 0; first < t->columns; first += BLOCK_POINTS)
        multiply(sums + (long)first * BLOCK_POINTS,
                 (Factors){table_row(t, 0, first), x, 1, BLOCK_POINTS, t->rows, 0},
                 min_int(t->columns - first, BLOCK_POINTS));
}

/* sums -= factor * x, for each channel. */
INLINE void subtract(real *sums, const real *factor, const real *x, int channels) {
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < BLOCK_POINTS; i++)
            sums[(long)c * BLOCK_POINTS + i] -= factor[c] * x[(long)c * BLOCK_POINTS + i];
}

/* The channels of head g in a map. */
INLINE Head head_of_map(const Layout *l, Axes map, int g, int channels) {
    return (Head){l, {map, map, {0, 0, 0}, {0, 0, 0}, 0}, map.d * map.h * map.w, 0, g * channels, channels};
}

/* The points of a band: whole blocks, but at the end. */
INLINE Rows points_of_band(int points, int band, int bands) {
    const int blocks = (points + BLOCK_POINTS - 1) / BLOCK_POINTS;
    return (Rows){(int)((long)blocks * band / bands) * BLOCK_POINTS,
                  min_int((int)((long)blocks * (band + 1) / bands) * BLOCK_POINTS, points)};
}
/* END */
