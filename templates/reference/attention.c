/* attention.c - for each query the mean of all values, weighted by the softmax of its products with the
 * keys; and the logarithm of what the softmax divides by. */
#include "prologue.c"

#define KERNEL attention
#include "../example.h"

/* BEGIN */
/* Channel c of point `of` of a tensor whose planes have so many points. */
UNUSED static double KERNEL_at(const stored *x, const Layout *l, int i, int c, int of, int height,
                               int width) {
    return (double)load(x, element(l, i, c, of / width / height, of / width % height, of % width));
}

/* The product of a query and a key of head g. */
UNUSED static double KERNEL_product(const stored *q, const stored *k, int i, int g, int query, int key) {
    SIZES;
    double sum = 0;
    for (int c = g * (C / HEADS); c < (g + 1) * (C / HEADS); c++)
        sum += KERNEL_at(q, &QUERY, i, c, query, H, W) * KERNEL_at(k, &KEY, i, c, key, IH, IW);
    return TIMES * sum;
}

/* The shares of the first `keys` keys, which add up to 1.  Returns the logarithm of the sum. */
UNUSED static double KERNEL_softmax(double *share, const stored *q, const stored *k, int i, int g,
                                    int query, int keys) {
    SIZES;
    double largest = -INFINITY, sum = 0;
    for (int key = 0; key < keys; key++) {
        share[key] = KERNEL_product(q, k, i, g, query, key);
        largest = share[key] > largest || share[key] != share[key] ? share[key] : largest;
    }
    for (int key = 0; key < keys; key++)
        sum += exp(share[key] - largest);
    for (int key = 0; key < keys; key++)
        share[key] = exp(share[key] - largest) / sum;
    return largest + log(sum);
}

/* The values of head g, by their shares; behind the last head the channels that only pad. */
UNUSED static void KERNEL_means(stored *y, const double *share, const stored *v, int i, int g, int query,
                                int keys) {
    SIZES;
    const int end = g + 1 < HEADS ? (g + 1) * (CV / HEADS) : stored_channels(&Y);
    for (int c = g * (CV / HEADS); c < end; c++) {
        double sum = 0;
        for (int key = 0; key < keys && c < CV; key++)
            sum += share[key] * KERNEL_at(v, &VALUE, i, c, key, IH, IW);
        store(y, element(&Y, i, c, query / W / H, query / W % H, query % W), (real)sum);
    }
}

UNUSED static void KERNEL(int n, stored *y, real *lse, double *scratch, const stored *q, const stored *k,
                          const stored *v) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int g = 0; g < HEADS; g++) {
            double *const share = scratch + ((long)i * HEADS + g) * KEYS;
            for (int query = 0; query < QUERIES; query++) {
                const int keys = CAUSAL ? query + 1 : KEYS;
                const double sum = KERNEL_softmax(share, q, k, i, g, query, keys);
                KERNEL_means(y, share, v, i, g, query, keys);
                if (lse)
                    lse[i * LSE.sample + (long)g * QUERIES + query] = (real)sum;
            }
        }
}
/* END */
