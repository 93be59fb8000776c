/* channel_attention_grad.c - gradients of attention over channels by queries, keys, values and the
 * temperature, from the products and factors that were kept. */
#include "prologue.c"

#define KERNEL channel_attention_grad
#include "../example.h"

/* BEGIN */
typedef struct {
    const stored *q, *k, *v, *dy;
    const real *table, *of_q, *of_k; /* products; factors of channels; of a sample */
    double *share, *slope;           /* tables of a head */
    int i, g;
} KERNEL_Head;

/* Returns the place of a number of v, or of the gradient by v or y; */
UNUSED static long KERNEL_place(const Layout *l, int i, int c, int point) {
    SIZES;
    return element(l, i, c, point / W / H, point / W % H, point % W);
}

/* and of a number of q or k, or of the gradient by these. */
UNUSED static long KERNEL_table_place(const Layout *l, int i, int c, int point) {
    SIZES;
    return element(l, i, c, point / IW / IH, point / IW % IH, point % IW);
}

/* Shares, and their gradients, sums over the points. */
UNUSED static void KERNEL_shares(const KERNEL_Head *h, double heat) {
    SIZES;
    const int rows = C / HEADS, columns = CV / HEADS;
    for (int r = 0; r < rows; r++) {
        const real *const product = h->table + (h->g * rows + r) * columns;
        double sum = 0, largest = -INFINITY;
        for (int j = 0; j < columns; j++)
            largest = fmax(largest, heat * (double)product[j]);
        for (int j = 0; j < columns; j++)
            sum += h->share[r * columns + j] =
                SOFTMAX ? exp(heat * (double)product[j] - largest) : heat * (double)product[j];
        for (int j = 0; j < columns; j++) {
            double slope = 0;
            for (int point = 0; point < D * H * W; point++)
                slope += (double)load(h->dy, KERNEL_place(&DY, h->i, h->g * rows + r, point)) *
                         (double)load(h->v, KERNEL_place(&VALUE, h->i, h->g * columns + j, point));
            h->share[r * columns + j] /= SOFTMAX ? sum : 1;
            h->slope[r * columns + j] = slope;
        }
    }
}

/* Gradients by the products, in place of those by shares.  Returns the gradient by the temperature. */
UNUSED static double KERNEL_slopes(const KERNEL_Head *h, double heat) {
    SIZES;
    const int rows = C / HEADS, columns = CV / HEADS;
    double by_temperature = 0;
    for (int r = 0; r < rows; r++) {
        double mean = 0;
        for (int j = 0; j < columns; j++)
            mean += h->share[r * columns + j] * h->slope[r * columns + j];
        for (int j = 0; j < columns; j++) {
            double *const slope = h->slope + r * columns + j;
            *slope = SOFTMAX ? h->share[r * columns + j] * (*slope - mean) : *slope;
            by_temperature += TIMES * *slope * (double)h->table[(h->g * rows + r) * columns + j];
            *slope *= heat;
        }
    }
    return by_temperature;
}

/* A channel of dq, or of dk if `turned`: a row, or a column, of the slopes times channels of k, or of q;
 * less what only makes the channel longer. */
UNUSED static void KERNEL_by_channel(stored *dx, const Layout *to, const KERNEL_Head *h, int at,
                                     int turned) {
    SIZES;
    const int rows = C / HEADS, columns = CV / HEADS, own = turned ? columns : rows,
              count = turned ? rows : columns;
    const stored *const x = turned ? h->k : h->q, *const others = turned ? h->q : h->k;
    const Layout *const of_x = turned ? &KEY : &QUERY, *const of_others = turned ? &QUERY : &KEY;
    const real *const factors = turned ? h->of_k : h->of_q, *const other_factors =
                                                                turned ? h->of_q : h->of_k;
    const int c = h->g * own + at;
    for (int point = 0; point < ID * IH * IW; point++) {
        double sum = 0, along = 0;
        for (int j = 0; j < count; j++) {
            const int r = turned ? j : at, column = turned ? at : j;
            const double slope = h->slope[r * columns + column];
            sum += slope * (double)other_factors[h->g * count + j] *
                   (double)load(others, KERNEL_table_place(of_others, h->i, h->g * count + j, point));
            along += slope * (double)h->table[(h->g * rows + r) * columns + column];
        }
        if (NORMALIZE)
            sum -= along * (double)factors[c] * (double)load(x, KERNEL_table_place(of_x, h->i, c, point));
        store(dx, KERNEL_table_place(to, h->i, c, point), (real)((double)factors[c] * sum));
    }
}

UNUSED static void KERNEL_by_value(stored *dv, const KERNEL_Head *h, int j) {
    SIZES;
    const int rows = C / HEADS, columns = CV / HEADS;
    for (int point = 0; point < D * H * W; point++) {
        double sum = 0;
        for (int r = 0; r < rows; r++)
            sum += h->share[r * columns + j] *
                   (double)load(h->dy, KERNEL_place(&DY, h->i, h->g * rows + r, point));
        store(dv, KERNEL_place(&DV, h->i, h->g * columns + j, point), (real)sum);
    }
}

/* Channels that only pad. */
UNUSED static void KERNEL_pad(stored *dx, const Layout *l, int i, int channels, int depth, int height,
                              int width) {
    for (int c = channels; c < stored_channels(l); c++)
        for (int point = 0; point < depth * height * width; point++)
            store(dx, element(l, i, c, point / width / height, point / width % height, point % width), 0);
}

UNUSED static void KERNEL(int n, stored *dq, stored *dk, stored *dv, stored *dt, double *scratch,
                          const stored *q, const stored *k, const stored *v, const real *products,
                          const stored *dy, const stored *t) {
    SIZES;
    const long table = (long)(C / HEADS) * (CV / HEADS);
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        const real *const of_sample = products + i * PRODUCTS.sample;
        for (int g = 0; g < HEADS; g++) {
            double *const share = scratch + ((long)i * HEADS + g) * 2 * table;
            const real *const of_q = of_sample + C * (CV / HEADS);
            const KERNEL_Head head = {q, k, v, dy, of_sample, of_q, of_q + C, share, share + table, i, g};
            const double heat = TIMES * (TEMPERED ? (double)load(t, element(&T, i, g, 0, 0, 0)) : 1);
            KERNEL_shares(&head, heat);
            const double by_temperature = KERNEL_slopes(&head, heat);
            for (int r = 0; r < C / HEADS; r++)
                KERNEL_by_channel(dq, &DQ, &head, r, 0);
            for (int j = 0; j < CV / HEADS; j++) {
                KERNEL_by_channel(dk, &DK, &head, j, 1);
                KERNEL_by_value(dv, &head, j);
            }
            if (dt)
                store(dt, element(&DT, i, g, 0, 0, 0), (real)by_temperature);
        }
        KERNEL_pad(dq, &DQ, i, C, ID, IH, IW);
        KERNEL_pad(dk, &DK, i, CV, ID, IH, IW);
        KERNEL_pad(dv, &DV, i, CV, D, H, W);
        if (dt)
            KERNEL_pad(dt, &DT, i, HEADS, 1, 1, 1);
    }
}
/* END */
