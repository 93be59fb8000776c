/* attention.c - for each query the mean of all values, weighted by the softmax of its products with the
 * keys; and the logarithm of what the softmax divides by. */
#include "windows.c"

#define KERNEL attention
#include "../example.h"

/* BEGIN */
typedef struct {
    const stored *q, *k, *v, *b;
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

/* Channel c of point `of` of a tensor whose planes have so many points. */
UNUSED static double KERNEL_at(const stored *x, const Layout *l, int i, int c, int of, int height,
                               int width) {
    return (double)load(x, element(l, i, c, of / width / height, of / width % height, of % width));
}

/* The product of a query and a key of a head, and the bias. */
UNUSED static double KERNEL_product(const KERNEL_Operands *of, KERNEL_Part at, int query, int key) {
    SIZES;
    const int asks = KERNEL_point(at.window, query, 1), answers = KERNEL_point(at.window, key, 0);
    double sum = 0;
    for (int c = at.g * (C / HEADS); c < (at.g + 1) * (C / HEADS); c++)
        sum += KERNEL_at(of->q, &QUERY, at.i, c, asks, H, W) *
               KERNEL_at(of->k, &KEY, at.i, c, answers, IH, IW);
    return TIMES * sum +
           (BIAS ? KERNEL_at(of->b, &B, at.i, at.g, KERNEL_bias_number(query, key), BH, BW) : 0);
}

/* The shares of the first `keys` keys, which add up to 1.  Returns the logarithm of the sum. */
UNUSED static double KERNEL_softmax(double *share, const KERNEL_Operands *of, KERNEL_Part at, int query,
                                    int keys) {
    SIZES;
    double largest = -INFINITY, sum = 0;
    for (int key = 0; key < keys; key++) {
        share[key] = KERNEL_sees(at.window, query, key) ? KERNEL_product(of, at, query, key) : -INFINITY;
        largest = share[key] > largest || share[key] != share[key] ? share[key] : largest;
    }
    for (int key = 0; key < keys; key++)
        sum += exp(share[key] - largest);
    for (int key = 0; key < keys; key++)
        share[key] = exp(share[key] - largest) / sum;
    return largest + log(sum);
}

/* The values of a head, by their shares; behind the last head the channels that only pad. */
UNUSED static void KERNEL_means(stored *y, const double *share, const stored *v, KERNEL_Part at, int query,
                                int keys) {
    SIZES;
    const int end = at.g + 1 < HEADS ? (at.g + 1) * (CV / HEADS) : stored_channels(&Y),
              to = KERNEL_point(at.window, query, 1);
    for (int c = at.g * (CV / HEADS); c < end; c++) {
        double sum = 0;
        for (int key = 0; key < keys && c < CV; key++)
            sum += share[key] * KERNEL_at(v, &VALUE, at.i, c, KERNEL_point(at.window, key, 0), IH, IW);
        store(y, element(&Y, at.i, c, to / W / H, to / W % H, to % W), (real)sum);
    }
}

UNUSED static void KERNEL(int n, stored *y, real *lse, double *scratch, const stored *q, const stored *k,
                          const stored *v, const stored *b) {
    SIZES;
    const KERNEL_Operands of = {q, k, v, b};
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int g = 0; g < HEADS; g++) {
            double *const share = scratch + ((long)i * HEADS + g) * KEYS;
            for (int query = 0; query < WINDOWS * QUERIES; query++) {
                const KERNEL_Part at = {i, g, query / QUERIES};
                const int keys = CAUSAL ? query + 1 : KEYS;
                const double sum = KERNEL_softmax(share, &of, at, query % QUERIES, keys);
                KERNEL_means(y, share, v, at, query % QUERIES, keys);
                if (lse)
                    lse[i * LSE.sample + (long)g * WINDOWS * QUERIES + query] = (real)sum;
            }
        }
}
/* END */
