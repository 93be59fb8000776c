/* attention_grad.c - gradients of attention by queries, keys and values: the softmax once more, from what
 * was kept of each row of products. */
#include "prologue.c"

#define KERNEL attention_grad
#include "../example.h"

/* BEGIN */
/* Channel c of point `of` of a tensor whose planes have so many points, */
UNUSED static long KERNEL_place(const Layout *l, int i, int c, int of, int height, int width) {
    return element(l, i, c, of / width / height, of / width % height, of % width);
}

/* and what a tensor of the size of q, or of k, has there. */
UNUSED static double KERNEL_asks(const stored *x, const Layout *l, int i, int c, int query) {
    SIZES;
    return (double)load(x, KERNEL_place(l, i, c, query, H, W));
}

UNUSED static double KERNEL_answers(const stored *x, const Layout *l, int i, int c, int key) {
    SIZES;
    return (double)load(x, KERNEL_place(l, i, c, key, IH, IW));
}

/* The tensors that are read. */
enum { KERNEL_Q, KERNEL_K, KERNEL_V, KERNEL_Y, KERNEL_DY };

/* The share that a query of head g has of a key, and the gradient by their product. */
UNUSED static void KERNEL_pair(double *share, double *slope, const stored *const *of, const real *lse,
                               int i, int g, int query, int key) {
    SIZES;
    double product = 0, gradient = 0;
    for (int c = g * (C / HEADS); c < (g + 1) * (C / HEADS); c++)
        product +=
            KERNEL_asks(of[KERNEL_Q], &QUERY, i, c, query) * KERNEL_answers(of[KERNEL_K], &KEY, i, c, key);
    for (int c = g * (CV / HEADS); c < (g + 1) * (CV / HEADS); c++)
        gradient +=
            KERNEL_asks(of[KERNEL_DY], &DY, i, c, query) *
            (KERNEL_answers(of[KERNEL_V], &VALUE, i, c, key) - KERNEL_asks(of[KERNEL_Y], &Y, i, c, query));
    *share = exp(TIMES * product - (double)lse[i * LSE.sample + (long)g * QUERIES + query]);
    *slope = TIMES * *share * gradient;
}

UNUSED static void KERNEL_by_query(stored *dq, double *slope, const stored *const *of, const real *lse,
                                   int i, int g, int query) {
    SIZES;
    const int keys = CAUSAL ? query + 1 : KEYS;
    const int end = g + 1 < HEADS ? (g + 1) * (C / HEADS) : stored_channels(&DQ);
    double share;
    for (int key = 0; key < keys; key++)
        KERNEL_pair(&share, &slope[key], of, lse, i, g, query, key);
    for (int c = g * (C / HEADS); c < end; c++) {
        double sum = 0;
        for (int key = 0; key < keys && c < C; key++)
            sum += slope[key] * KERNEL_answers(of[KERNEL_K], &KEY, i, c, key);
        store(dq, KERNEL_place(&DQ, i, c, query, H, W), (real)sum);
    }
}

/* The sum over the queries of `factor` times x; behind the last head zero. */
UNUSED static double KERNEL_sum(const double *factor, const stored *x, const Layout *l, int i, int c,
                                int first, int channels) {
    SIZES;
    double sum = 0;
    for (int query = first; query < QUERIES && c < channels; query++)
        sum += factor[query] * KERNEL_asks(x, l, i, c, query);
    return sum;
}

UNUSED static void KERNEL_by_key(stored *dk, stored *dv, double *share, double *slope,
                                 const stored *const *of, const real *lse, int i, int g, int key) {
    SIZES;
    const int first = CAUSAL ? key : 0;
    const int end = g + 1 < HEADS ? (g + 1) * (C / HEADS) : stored_channels(&DK);
    const int end_of_v = g + 1 < HEADS ? (g + 1) * (CV / HEADS) : stored_channels(&DV);
    for (int query = first; query < QUERIES; query++)
        KERNEL_pair(&share[query], &slope[query], of, lse, i, g, query, key);
    for (int c = g * (C / HEADS); c < end; c++)
        store(dk, KERNEL_place(&DK, i, c, key, IH, IW),
              (real)KERNEL_sum(slope, of[KERNEL_Q], &QUERY, i, c, first, C));
    for (int c = g * (CV / HEADS); c < end_of_v; c++)
        store(dv, KERNEL_place(&DV, i, c, key, IH, IW),
              (real)KERNEL_sum(share, of[KERNEL_DY], &DY, i, c, first, CV));
}

UNUSED static void KERNEL(int n, stored *dq, stored *dk, stored *dv, double *scratch, const stored *q,
                          const stored *k, const stored *v, const stored *y, const real *lse,
                          const stored *dy) {
    SIZES;
    const stored *const of[] = {q, k, v, y, dy};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int g = 0; g < HEADS; g++) {
            double *const slope = scratch + ((long)i * HEADS + g) * (KEYS + 2L * QUERIES);
            for (int query = 0; query < QUERIES; query++)
                KERNEL_by_query(dq, slope, of, lse, i, g, query);
            for (int key = 0; key < KEYS; key++)
                KERNEL_by_key(dk, dv, slope, slope + QUERIES, of, lse, i, g, key);
        }
}
/* END */
