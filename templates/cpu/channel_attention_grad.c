/* channel_attention_grad.c - gradients of attention over channels by queries, keys, values and the
 * temperature, from the products and factors that were kept.
 *
 * Bands of points make tables of the gradients by shares.  Each row becomes gradients by the products. Then
 * three products with tables make the gradients of a block of points. */
#include "channel_tables.c"

#define KERNEL channel_attention_grad
#include "../example.h"

/* BEGIN */
typedef struct {
    const stored *q, *k, *v, *dy, *t;
    const real *products;
} KERNEL_Operands;

/* The tables of the bands, then the shares, then the slopes; and room for blocks of points. */
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

NOINLINE void KERNEL_band(Table t, real *slot, const KERNEL_Operands *of, int head, int band) {
    SIZES;
    const Head rows = head_of_map(&DY, (Axes){D, H, W}, head % HEADS, C / HEADS),
               columns = head_of_map(&VALUE, (Axes){D, H, W}, head % HEADS, CV / HEADS);
    real *const of_dy = slot, *const of_v = of_dy + BLOCK_POINTS * (C / HEADS),
                *const panel = of_v + BLOCK_POINTS * (CV / HEADS);
    const Rows points = points_of_band(rows.points, band, BANDS);
    memset(t.of, 0, table_elements(t.rows, t.columns) * sizeof *t.of);
    for (int first = points.begin; first < points.end; first += BLOCK_POINTS) {
        head_load(of_dy, of->dy, &rows, head / HEADS, first);
        head_load(of_v, of->v, &columns, head / HEADS, first);
        table_add(&t, of_dy, of_v, panel);
    }
}

INLINE real KERNEL_heat(const KERNEL_Operands *of, int head) {
    SIZES;
    const int n = head / HEADS, g = head % HEADS;
    return (real)TIMES *
           (TEMPERED ? load_some(of->t + vector_at(&T, g / LANES, (Point){n, 0, 0, 0}) + g % LANES, 1)[0]
                     : 1);
}

INLINE const real *KERNEL_products(const KERNEL_Operands *of, int head) {
    SIZES;
    return of->products + head / HEADS * PRODUCTS.sample +
           (long)(head % HEADS) * (C / HEADS) * (CV / HEADS);
}

/* 1 / the length of the first channel of a head, of q or of k. */
INLINE const real *KERNEL_factors(const KERNEL_Operands *of, int head, int of_k) {
    SIZES;
    const real *const of_q = of->products + head / HEADS * PRODUCTS.sample + (long)C * (CV / HEADS);
    return of_k ? of_q + C + head % HEADS * (CV / HEADS) : of_q + head % HEADS * (C / HEADS);
}

/* The slopes of a row, which are multiplied with the factors of q and k; the row's part of the gradient by
 * the temperature; and how much longer the slopes would make the channel of q. */
NOINLINE void KERNEL_row(real *scratch, const KERNEL_Operands *of, int head, int row) {
    SIZES;
    const Table sums = KERNEL_table(scratch, head, 0), share = KERNEL_table(scratch, head, BANDS),
                slope = KERNEL_table(scratch, head, BANDS + 1);
    const long apart = table_elements(sums.rows, sums.columns);
    const real *const product = KERNEL_products(of, head) + (long)row * sums.columns,
                      *const of_k = KERNEL_factors(of, head, 1), of_q = KERNEL_factors(of, head, 0)[row],
                      heat = KERNEL_heat(of, head);
    real mean = 0, by_temperature = 0;
    for (int j = 0; j < sums.columns; j++)
        table_row(&share, row, j)[j % BLOCK_POINTS] = SOFTMAX ? product[j] : heat * product[j];
    if (SOFTMAX)
        table_softmax(&share, row, heat);
    for (int j = 0; j < sums.columns; j++) {
        const real *const from = table_row(&sums, row, j) + j % BLOCK_POINTS;
        real sum = 0;
        for (int band = 0; band < BANDS; band++)
            sum += from[band * apart];
        table_row(&slope, row, j)[j % BLOCK_POINTS] = sum;
        mean += table_row(&share, row, j)[j % BLOCK_POINTS] * sum;
    }
    for (int j = 0; j < sums.columns; j++) {
        real *const at = table_row(&slope, row, j) + j % BLOCK_POINTS;
        const real by_product = SOFTMAX ? table_row(&share, row, j)[j % BLOCK_POINTS] * (*at - mean) : *at;
        by_temperature += by_product * product[j];
        *at = heat * by_product * of_q * of_k[j];
    }
    share.by_row[row] = (real)TIMES * by_temperature;
    slope.by_row[row] = NORMALIZE ? heat * by_temperature * of_q * of_q : 0;
}

/* How much longer the slopes would make the channels of k. */
NOINLINE void KERNEL_columns(const Table *slope, const KERNEL_Operands *of, int head) {
    SIZES;
    const real *const product = KERNEL_products(of, head), *const of_q = KERNEL_factors(of, head, 0),
                      *const of_k = KERNEL_factors(of, head, 1);
    for (int j = 0; j < slope->columns; j++) {
        real sum = 0;
        for (int row = 0; row < slope->rows && NORMALIZE; row++)
            sum += table_row(slope, row, j)[j % BLOCK_POINTS] * product[(long)row * slope->columns + j] /
                   of_q[row];
        slope->by_column[j] = sum * of_k[j];
    }
}

/* Heads are channels; channels that only pad become zero. */
INLINE void KERNEL_by_temperature(stored *dt, real *scratch, int n) {
    SIZES;
    for (int v = 0; v < vectors(&DT); v++) {
        Vector sum = {0};
        for (int g = v * LANES; g < min_int(HEADS, (v + 1) * LANES); g++)
            for (int row = 0; row < C / HEADS; row++)
                sum[g % LANES] += KERNEL_table(scratch, n * HEADS + g, BANDS).by_row[row];
        store_some(dt + vector_at(&DT, v, (Point){n, 0, 0, 0}), sum, lanes(&DT, v));
    }
}

/* A block of points of a tensor, turned. */
NOINLINE void KERNEL_load(real *turned, real *rows, const stored *x, const Layout *l, Axes map,
                          int channels, int head, int first) {
    SIZES;
    const Head from = head_of_map(l, map, head % HEADS, channels);
    head_load(rows, x, &from, head / HEADS, first);
    turn(turned, rows, channels, 1);
}

NOINLINE void KERNEL_store(stored *x, real *rows, const real *sums, const Layout *l, Axes map, int channels,
                           int head, int first) {
    SIZES;
    const Head to = head_of_map(l, map, head % HEADS, channels);
    turn_back(rows, sums, channels, 1);
    head_store(x, rows, &to, head / HEADS, first);
}

/* A block of points of q and of k. */
NOINLINE void KERNEL_by_pair(stored *dq, stored *dk, real *scratch, real *slot, const KERNEL_Operands *of,
                             int head, int first) {
    SIZES;
    const Axes map = {ID, IH, IW};
    const int rows = C / HEADS, columns = CV / HEADS, more = rows > columns ? rows : columns;
    const Table slope = KERNEL_table(scratch, head, BANDS + 1);
    real *const q = slot, *const k = q + BLOCK_POINTS * rows, *const sums = k + BLOCK_POINTS * columns,
                *const by_point = sums + BLOCK_POINTS * more;
    KERNEL_load(q, by_point, of->q, &QUERY, map, rows, head, first);
    KERNEL_load(k, by_point, of->k, &KEY, map, columns, head, first);
    sum_columns(sums, &slope, k);
    subtract(sums, slope.by_row, q, rows);
    KERNEL_store(dq, by_point, sums, &DQ, map, rows, head, first);
    sum_rows(sums, &slope, q);
    subtract(sums, slope.by_column, k, columns);
    KERNEL_store(dk, by_point, sums, &DK, map, columns, head, first);
}

/* A block of points of v. */
NOINLINE void KERNEL_by_value(stored *dv, real *scratch, real *slot, const KERNEL_Operands *of, int head,
                              int first) {
    SIZES;
    const Axes map = {D, H, W};
    const int rows = C / HEADS, columns = CV / HEADS, more = rows > columns ? rows : columns;
    const Table share = KERNEL_table(scratch, head, BANDS);
    real *const dy = slot, *const sums = dy + BLOCK_POINTS * rows,
                *const by_point = sums + BLOCK_POINTS * more;
    KERNEL_load(dy, by_point, of->dy, &DY, map, rows, head, first);
    sum_rows(sums, &share, dy);
    KERNEL_store(dv, by_point, sums, &DV, map, columns, head, first);
}

UNUSED static void KERNEL(int n, stored *restrict dq, stored *restrict dk, stored *restrict dv,
                          stored *restrict dt, real *scratch, const stored *q, const stored *k,
                          const stored *v, const real *products, const stored *dy, const stored *t) {
    SIZES;
    const KERNEL_Operands of = {q, k, v, dy, t, products};
    const int heads = n * HEADS, rows = C / HEADS, pairs = (ID * IH * IW + BLOCK_POINTS - 1) / BLOCK_POINTS,
              blocks = (D * H * W + BLOCK_POINTS - 1) / BLOCK_POINTS;
#pragma omp for schedule(static)
    for (int task = 0; task < heads * BANDS; task++)
        KERNEL_band(KERNEL_table(scratch, task / BANDS, task % BANDS),
                    KERNEL_slot(scratch, n, heads * BANDS, task), &of, task / BANDS, task % BANDS);
#pragma omp for schedule(static)
    for (int task = 0; task < heads * rows; task++)
        KERNEL_row(scratch, &of, task / rows, task % rows);
#pragma omp for schedule(static)
    for (int head = 0; head < heads; head++) {
        const Table slope = KERNEL_table(scratch, head, BANDS + 1);
        KERNEL_columns(&slope, &of, head);
    }
#pragma omp for schedule(static)
    for (int task = 0; task < heads * pairs; task++)
        KERNEL_by_pair(dq, dk, scratch, KERNEL_slot(scratch, n, heads * pairs, task), &of, task / pairs,
                       task % pairs * BLOCK_POINTS);
#pragma omp for schedule(static)
    for (int task = 0; task < heads * blocks; task++)
        KERNEL_by_value(dv, scratch, KERNEL_slot(scratch, n, heads * blocks, task), &of, task / blocks,
                        task % blocks * BLOCK_POINTS);
    if (dt == NULL)
        return;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        KERNEL_by_temperature(dt, scratch, i);
}
/* END */
