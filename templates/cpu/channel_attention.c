/* channel_attention.c - for each channel of q the sum of all channels of v in its head, weighted by its
 * products with the channels of k, or their SOFTMAX; and the products and factors, which the gradient
 * reads.
 *
 * Bands of points make tables of sums, which are added in their order, so the bits follow from the shape.
 */
#include "channel_tables.c"

#define KERNEL channel_attention
#include "../example.h"

/* BEGIN */
/* The tables of the bands, then the shares; and room for blocks of points. */
INLINE Table KERNEL_table(real *scratch, int head, int number) {
    SIZES;
    const long elements = table_elements(C / HEADS, CV / HEADS);
    return table_at(scratch + ((long)head * (BANDS + 2) + number) * elements, C / HEADS, CV / HEADS);
}

INLINE real *KERNEL_slot(real *scratch, int n, int tasks, int task) {
    SIZES;
    return slot_of(KERNEL_table(scratch, n * HEADS, 0).of,
                   4L * BLOCK_POINTS * (C / HEADS + whole_blocks(CV / HEADS)), SLOTS, tasks, task);
}

NOINLINE void KERNEL_band(Table t, real *slot, const stored *q, const stored *k, int head, int band) {
    SIZES;
    const Head rows = head_of_map(&QUERY, (Axes){ID, IH, IW}, head % HEADS, C / HEADS),
               columns = head_of_map(&KEY, (Axes){ID, IH, IW}, head % HEADS, CV / HEADS);
    real *const of_q = slot, *const of_k = of_q + BLOCK_POINTS * (C / HEADS),
                *const panel = of_k + BLOCK_POINTS * (CV / HEADS);
    const Rows points = points_of_band(rows.points, band, BANDS);
    memset(t.of, 0, table_elements(t.rows, t.columns) * sizeof *t.of);
    for (int first = points.begin; first < points.end; first += BLOCK_POINTS) {
        head_load(of_q, q, &rows, head / HEADS, first);
        head_load(of_k, k, &columns, head / HEADS, first);
        table_add(&t, of_q, of_k, panel);
        if (NORMALIZE) {
            add_squares(t.by_row, of_q, t.rows);
            add_squares(t.by_column, of_k, t.columns);
        }
    }
}

/* Adds the bands' numbers up, and leaves 1 / the length of each channel. */
INLINE void KERNEL_factors(real *factor, const real *squares, long apart, int channels) {
    SIZES;
    for (int c = 0; c < channels; c++) {
        real sum = 0;
        for (int band = 0; band < BANDS; band++)
            sum += squares[band * apart + c];
        factor[c] = NORMALIZE ? 1 / (real)fmax(sqrt(sum), 1e-12) : 1;
    }
}

/* A row of products, and its shares. */
NOINLINE void KERNEL_row(const Table *share, real *product, const Table *sums, const real *of_k, real of_q,
                         real factor, int row) {
    SIZES;
    const long apart = table_elements(sums->rows, sums->columns);
    for (int j = 0; j < sums->columns; j++) {
        const real *const from = table_row(sums, row, j) + j % BLOCK_POINTS;
        real sum = 0;
        for (int band = 0; band < BANDS; band++)
            sum += from[band * apart];
        product[j] = sum * of_q * of_k[j];
        table_row(share, row, j)[j % BLOCK_POINTS] = SOFTMAX ? product[j] : factor * product[j];
    }
    if (SOFTMAX)
        table_softmax(share, row, factor);
}

/* The shares of all rows of a head, or of a part of them. */
INLINE void KERNEL_rows(real *scratch, real *products, const stored *t, int head, int first, int end) {
    SIZES;
    const int n = head / HEADS, g = head % HEADS, columns = CV / HEADS;
    const Table sums = KERNEL_table(scratch, head, 0), share = KERNEL_table(scratch, head, BANDS);
    real *const table = products + n * PRODUCTS.sample,
                *const of_q = table + (long)C * columns + g * (C / HEADS),
                *const of_k = table + (long)C * columns + C + g * columns;
    const real heat =
        TEMPERED ? load_some(t + vector_at(&T, g / LANES, (Point){n, 0, 0, 0}) + g % LANES, 1)[0] : 1;
    for (int row = first; row < end; row++)
        KERNEL_row(&share, table + ((long)g * (C / HEADS) + row) * columns, &sums, of_k, of_q[row],
                   (real)TIMES * heat, row);
}

NOINLINE void KERNEL_means(stored *y, real *slot, const Table *share, const stored *v, int head,
                           int first) {
    SIZES;
    const Head from = head_of_map(&VALUE, (Axes){D, H, W}, head % HEADS, CV / HEADS),
               to = head_of_map(&Y, (Axes){D, H, W}, head % HEADS, C / HEADS);
    real *const rows = slot, *const turned = rows + BLOCK_POINTS * (CV / HEADS),
                *const sums = turned + BLOCK_POINTS * (CV / HEADS),
                *const means = sums + BLOCK_POINTS * (C / HEADS);
    head_load(rows, v, &from, head / HEADS, first);
    turn(turned, rows, CV / HEADS, 1);
    sum_columns(sums, share, turned);
    turn_back(means, sums, C / HEADS, 1);
    head_store(y, means, &to, head / HEADS, first);
}

UNUSED static void KERNEL(int n, stored *restrict y, real *restrict products, real *scratch,
                          const stored *q, const stored *k, const stored *v, const stored *t) {
    SIZES;
    const int heads = n * HEADS, rows = C / HEADS, columns = CV / HEADS,
              blocks = (D * H * W + BLOCK_POINTS - 1) / BLOCK_POINTS;
#pragma omp for schedule(static)
    for (int task = 0; task < heads * BANDS; task++)
        KERNEL_band(KERNEL_table(scratch, task / BANDS, task % BANDS),
                    KERNEL_slot(scratch, n, heads * BANDS, task), q, k, task / BANDS, task % BANDS);
#pragma omp for schedule(static)
    for (int head = 0; head < heads; head++) {
        const Table sums = KERNEL_table(scratch, head, 0);
        const long apart = table_elements(rows, columns);
        real *const factors = products + head / HEADS * PRODUCTS.sample + (long)C * columns;
        KERNEL_factors(factors + head % HEADS * rows, sums.by_row, apart, rows);
        KERNEL_factors(factors + C + head % HEADS * columns, sums.by_column, apart, columns);
    }
#pragma omp for schedule(static)
    for (int task = 0; task < heads * rows; task++)
        KERNEL_rows(scratch, products, t, task / rows, task % rows, task % rows + 1);
#pragma omp for schedule(static)
    for (int task = 0; task < heads * blocks; task++) {
        const Table share = KERNEL_table(scratch, task / blocks, BANDS);
        KERNEL_means(y, KERNEL_slot(scratch, n, heads * blocks, task), &share, v, task / blocks,
                     task % blocks * BLOCK_POINTS);
    }
}
/* END */
