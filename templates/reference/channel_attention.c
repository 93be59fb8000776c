/* channel_attention.c - for each channel of q the sum of all channels of v in its head, weighted by its
 * products with the channels of k, or their SOFTMAX; and the products and factors, which the gradient
 * reads.
 */
#include "prologue.c"

#define KERNEL channel_attention
#include "../example.h"

/* BEGIN */
/* A number of q or k. */
UNUSED static double KERNEL_at(const stored *x, const Layout *l, int i, int c, int point) {
    SIZES;
    return (double)load(x, element(l, i, c, point / IW / IH, point / IW % IH, point % IW));
}

/* 1 / the length of a channel over all points. */
UNUSED static double KERNEL_factor(const stored *x, const Layout *l, int i, int c) {
    SIZES;
    double sum = 0;
    for (int point = 0; point < ID * IH * IW; point++)
        sum += KERNEL_at(x, l, i, c, point) * KERNEL_at(x, l, i, c, point);
    return NORMALIZE ? 1 / fmax(sqrt(sum), 1e-12) : 1;
}

UNUSED static double KERNEL_product(const stored *q, const stored *k, int i, int row, int column) {
    SIZES;
    double sum = 0;
    for (int point = 0; point < ID * IH * IW; point++)
        sum += KERNEL_at(q, &QUERY, i, row, point) * KERNEL_at(k, &KEY, i, column, point);
    return sum;
}

/* The weights of all columns in a row: shares, which add up to 1, or the products times the factor. */
UNUSED static void KERNEL_softmax(double *share, const real *products, double factor) {
    SIZES;
    double largest = -INFINITY, sum = 0;
    for (int j = 0; j < CV / HEADS; j++) {
        share[j] = factor * (double)products[j];
        largest = share[j] > largest || share[j] != share[j] ? share[j] : largest;
    }
    for (int j = 0; j < CV / HEADS; j++)
        sum += exp(share[j] - largest);
    for (int j = 0; j < CV / HEADS && SOFTMAX; j++)
        share[j] = exp(share[j] - largest) / sum;
}

/* Behind the last head are channels that only pad. */
UNUSED static void KERNEL_means(stored *y, const double *share, const stored *v, int i, int g) {
    SIZES;
    const int rows = C / HEADS, columns = CV / HEADS,
              end = g + 1 < HEADS ? (g + 1) * rows : stored_channels(&Y);
    for (int c = g * rows; c < end; c++)
        for (int point = 0; point < D * H * W; point++) {
            double sum = 0;
            for (int j = 0; j < columns && c < C; j++)
                sum += share[(c - g * rows) * columns + j] *
                       (double)load(
                           v, element(&VALUE, i, g * columns + j, point / W / H, point / W % H, point % W));
            store(y, element(&Y, i, c, point / W / H, point / W % H, point % W), (real)sum);
        }
}

UNUSED static void KERNEL(int n, stored *y, real *products, double *scratch, const stored *q,
                          const stored *k, const stored *v, const stored *t) {
    SIZES;
    const int rows = C / HEADS, columns = CV / HEADS;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        real *const table = products + i * PRODUCTS.sample, *const of_q = table + C * columns;
        for (int c = 0; c < C; c++)
            of_q[c] = (real)KERNEL_factor(q, &QUERY, i, c);
        for (int c = 0; c < CV; c++)
            of_q[C + c] = (real)KERNEL_factor(k, &KEY, i, c);
        for (int g = 0; g < HEADS; g++) {
            double *const share = scratch + ((long)i * HEADS + g) * 2 * rows * columns;
            const double heat = TEMPERED ? (double)load(t, element(&T, i, g, 0, 0, 0)) : 1;
            for (int c = g * rows; c < (g + 1) * rows; c++) {
                for (int j = 0; j < columns; j++)
                    table[c * columns + j] = (real)(KERNEL_product(q, k, i, c, g * columns + j) *
                                                    (double)of_q[c] * (double)of_q[C + g * columns + j]);
                KERNEL_softmax(share + (c - g * rows) * columns, table + c * columns, TIMES * heat);
            }
            KERNEL_means(y, share, v, i, g);
        }
    }
}
/* END */
