/* attention_grad.c - gradients of attention by queries, keys, values and the bias: the softmax once more,
 * from what was kept of each row of products. */
#include "windows.c"

#define KERNEL attention_grad
#include "../example.h"

/* BEGIN */
typedef struct {
    const stored *q, *k, *v, *y, *dy, *b;
    const real *lse;
} KERNEL_Operands;

/* A head of a sample in a window. */
typedef struct {
    int i, g, window;
} KERNEL_Part;

/* The windows of q, or of k and v. */
UNUSED static Windows KERNEL_windows(int asks) {
    SIZES;
    const Windows
        of_q = {{D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, {BD, BH, BW}, PAIRS},
        of_k = {{ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, {BD, BH, BW}, PAIRS};
    return asks ? of_q : of_k;
}

/* The number on the map of point i of a window, of queries or of keys. */
UNUSED static int KERNEL_point(int window, int i, int asks) {
    SIZES;
    if (WINDOWS == 1 && SHIFT_D + SHIFT_H + SHIFT_W == 0)
        return i;
    const Windows windows = KERNEL_windows(asks);
    return point_of_window(&windows, window, i);
}

UNUSED static int KERNEL_sees(int window, int query, int key) {
    SIZES;
    if (SHIFT_D + SHIFT_H + SHIFT_W == 0)
        return 1;
    const Windows windows = KERNEL_windows(1);
    return sees(&windows, window, query, key);
}

/* The number of the bias of a pair of points. */
UNUSED static int KERNEL_bias_number(int query, int key) {
    SIZES;
    const Windows windows = KERNEL_windows(1);
    return bias_number(&windows, query, key);
}

/* Channel c of a point of a tensor of the size of q, or of k. */
UNUSED static long KERNEL_query_place(const Layout *l, KERNEL_Part at, int c, int query) {
    SIZES;
    const int point = KERNEL_point(at.window, query, 1);
    return element(l, at.i, c, point / W / H, point / W % H, point % W);
}

UNUSED static long KERNEL_key_place(const Layout *l, KERNEL_Part at, int c, int key) {
    SIZES;
    const int point = KERNEL_point(at.window, key, 0);
    return element(l, at.i, c, point / IW / IH, point / IW % IH, point % IW);
}

UNUSED static double KERNEL_asks(const stored *x, const Layout *l, KERNEL_Part at, int c, int query) {
    SIZES;
    return (double)load(x, KERNEL_query_place(l, at, c, query));
}

UNUSED static double KERNEL_answers(const stored *x, const Layout *l, KERNEL_Part at, int c, int key) {
    SIZES;
    return (double)load(x, KERNEL_key_place(l, at, c, key));
}

/* The place in b, or in its gradient, of a point by its number. */
UNUSED static long KERNEL_bias_place(const Layout *l, int i, int c, int number) {
    SIZES;
    return element(l, i, c, number / BW / BH, number / BW % BH, number % BW);
}

/* The share that a query has of a key, and the gradient by the share. */
typedef struct {
    double share, gradient;
} KERNEL_Pair;

UNUSED static KERNEL_Pair KERNEL_pair(const KERNEL_Operands *of, KERNEL_Part at, int query, int key) {
    SIZES;
    double product = 0, gradient = 0;
    if (!KERNEL_sees(at.window, query, key))
        return (KERNEL_Pair){0, 0};
    for (int c = at.g * (C / HEADS); c < (at.g + 1) * (C / HEADS); c++)
        product += KERNEL_asks(of->q, &QUERY, at, c, query) * KERNEL_answers(of->k, &KEY, at, c, key);
    for (int c = at.g * (CV / HEADS); c < (at.g + 1) * (CV / HEADS); c++)
        gradient += KERNEL_asks(of->dy, &DY, at, c, query) *
                    (KERNEL_answers(of->v, &VALUE, at, c, key) - KERNEL_asks(of->y, &Y, at, c, query));
    const double lse =
        (double)of->lse[at.i * LSE.sample + ((long)at.g * WINDOWS + at.window) * QUERIES + query];
    const double bias =
        BIAS ? (double)load(of->b, KERNEL_bias_place(&B, at.i, at.g, KERNEL_bias_number(query, key))) : 0;
    return (KERNEL_Pair){exp(TIMES * product + bias - lse), gradient};
}

/* Adds to the gradient by the bias, too. */
UNUSED static void KERNEL_by_query(stored *dq, double *slope, double *by_bias, const KERNEL_Operands *of,
                                   KERNEL_Part at, int query) {
    SIZES;
    const int keys = CAUSAL ? query + 1 : KEYS;
    const int end = at.g + 1 < HEADS ? (at.g + 1) * (C / HEADS) : stored_channels(&DQ);
    for (int key = 0; key < keys; key++) {
        const KERNEL_Pair pair = KERNEL_pair(of, at, query, key);
        slope[key] = TIMES * pair.share * pair.gradient;
        if (BIAS)
            by_bias[KERNEL_bias_number(query, key)] += pair.share * pair.gradient;
    }
    for (int c = at.g * (C / HEADS); c < end; c++) {
        double sum = 0;
        for (int key = 0; key < keys && c < C; key++)
            sum += slope[key] * KERNEL_answers(of->k, &KEY, at, c, key);
        store(dq, KERNEL_query_place(&DQ, at, c, query), (real)sum);
    }
}

/* The sum over the queries of `factor` times x; behind the last head zero. */
UNUSED static double KERNEL_sum(const double *factor, const stored *x, const Layout *l, KERNEL_Part at,
                                int c, int first, int channels) {
    SIZES;
    double sum = 0;
    for (int query = first; query < QUERIES && c < channels; query++)
        sum += factor[query] * KERNEL_asks(x, l, at, c, query);
    return sum;
}

UNUSED static void KERNEL_by_key(stored *dk, stored *dv, double *share, double *slope,
                                 const KERNEL_Operands *of, KERNEL_Part at, int key) {
    SIZES;
    const int first = CAUSAL ? key : 0, g = at.g;
    const int end = g + 1 < HEADS ? (g + 1) * (C / HEADS) : stored_channels(&DK);
    const int end_of_v = g + 1 < HEADS ? (g + 1) * (CV / HEADS) : stored_channels(&DV);
    for (int query = first; query < QUERIES; query++) {
        const KERNEL_Pair pair = KERNEL_pair(of, at, query, key);
        share[query] = pair.share;
        slope[query] = TIMES * pair.share * pair.gradient;
    }
    for (int c = g * (C / HEADS); c < end; c++)
        store(dk, KERNEL_key_place(&DK, at, c, key),
              (real)KERNEL_sum(slope, of->q, &QUERY, at, c, first, C));
    for (int c = g * (CV / HEADS); c < end_of_v; c++)
        store(dv, KERNEL_key_place(&DV, at, c, key),
              (real)KERNEL_sum(share, of->dy, &DY, at, c, first, CV));
}

/* The gradient by the bias of a head; behind the last one zero. */
UNUSED static void KERNEL_store_bias(stored *db, const double *by_bias, int i, int g) {
    SIZES;
    const Windows asking = KERNEL_windows(1);
    const int end = g + 1 < HEADS ? g + 1 : stored_channels(&DB);
    for (int c = g; c < end; c++)
        for (int number = 0; number < bias_points(&asking); number++)
            store(db, KERNEL_bias_place(&DB, i, c, number), c < HEADS ? (real)by_bias[number] : 0);
}

/* A head of a sample, window by window. */
UNUSED static void KERNEL_head(stored *dq, stored *dk, stored *dv, stored *db, double *scratch,
                               const KERNEL_Operands *of, int i, int g) {
    SIZES;
    const Windows asking = KERNEL_windows(1);
    double *const by_bias = scratch + KEYS + 2L * QUERIES;
    for (int number = 0; BIAS && number < bias_points(&asking); number++)
        by_bias[number] = 0;
    for (int window = 0; window < WINDOWS; window++) {
        const KERNEL_Part at = {i, g, window};
        for (int query = 0; query < QUERIES; query++)
            KERNEL_by_query(dq, scratch, by_bias, of, at, query);
        for (int key = 0; key < KEYS; key++)
            KERNEL_by_key(dk, dv, scratch, scratch + QUERIES, of, at, key);
    }
    if (BIAS && db)
        KERNEL_store_bias(db, by_bias, i, g);
}

UNUSED static void KERNEL(int n, stored *dq, stored *dk, stored *dv, stored *db, double *scratch,
                          const stored *q, const stored *k, const stored *v, const stored *y,
                          const real *lse, const stored *dy, const stored *b) {
    SIZES;
    const KERNEL_Operands of = {q, k, v, y, dy, b, lse};
    const Windows asking = KERNEL_windows(1);
    const long elements = KEYS + 2L * QUERIES + (BIAS ? bias_points(&asking) : 0);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int g = 0; g < HEADS; g++)
            KERNEL_head(dq, dk, dv, db, scratch + ((long)i * HEADS + g) * elements, &of, i, g);
}
/* END */
