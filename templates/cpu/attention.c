/* attention.c - for each query the mean of all values, weighted by the softmax of its products with the
 * keys; and the logarithm of what the softmax divides by.
 *
 * Keys come a block at a time.  A larger product than all before makes what was summed smaller, so nobody
 * keeps the products of a row. */
#include "attentions.c"

#define KERNEL attention
#include "../example.h"

/* BEGIN */
/* A block of queries, and one of keys.  Each query has the largest product so far, and the sum of the
 * exponentials. */
typedef struct {
    real *query, *mean, *key, *value;
    real largest[BLOCK_POINTS], sum[BLOCK_POINTS], product[BLOCK_POINTS * BLOCK_POINTS];
} KERNEL_Block;

INLINE long KERNEL_elements(void) {
    SIZES;
    return 2L * BLOCK_POINTS * (C / HEADS + CV / HEADS);
}

INLINE void KERNEL_begin(KERNEL_Block *s, real *slot) {
    SIZES;
    s->query = slot;
    s->key = s->query + BLOCK_POINTS * (C / HEADS);
    s->value = s->key + BLOCK_POINTS * (C / HEADS);
    s->mean = s->value + BLOCK_POINTS * (CV / HEADS);
    memset(s->mean, 0, BLOCK_POINTS * (CV / HEADS) * sizeof *s->mean);
    for (int i = 0; i < BLOCK_POINTS; i++)
        s->largest[i] = -INFINITY, s->sum[i] = 0;
}

/* Products become exponentials, less the largest; sums of earlier keys become smaller with them. */
INLINE void KERNEL_exponentials(KERNEL_Block *s) {
    SIZES;
    for (int lane = 0; lane < BLOCK_POINTS; lane += LANES) {
        const Vector before = load_real(s->largest + lane);
        Vector largest = before;
        for (int r = 0; r < BLOCK_POINTS; r++)
            largest = vector_maximum(largest, load_real(s->product + r * BLOCK_POINTS + lane));
        const Vector smaller = vector_exp(before - largest);
        Vector sum = load_real(s->sum + lane) * smaller;
        for (int r = 0; r < BLOCK_POINTS; r++) {
            real *const at = s->product + r * BLOCK_POINTS + lane;
            const Vector share = vector_exp(load_real(at) - largest);
            store_real(at, share);
            sum += share;
        }
        for (int c = 0; c < CV / HEADS; c++) {
            real *const at = s->mean + c * BLOCK_POINTS + lane;
            store_real(at, load_real(at) * smaller);
        }
        store_real(s->largest + lane, largest);
        store_real(s->sum + lane, sum);
    }
}

/* The means, and the number that is kept of each row of products. */
INLINE void KERNEL_end(KERNEL_Block *s, stored *y, real *lse, int n, int g, int first) {
    SIZES;
    const Head mean = {&Y, QUERIES, H, W, g * (CV / HEADS), CV / HEADS};
    for (int c = 0; c < CV / HEADS; c++)
        for (int i = 0; i < BLOCK_POINTS; i++)
            s->mean[c * BLOCK_POINTS + i] /= s->sum[i];
    turn_back(s->value, s->mean, CV / HEADS, 1);
    head_store(y, s->value, &mean, n, first);
    for (int i = 0; lse && i < BLOCK_POINTS && first + i < QUERIES; i++)
        lse[n * LSE.sample + (long)g * QUERIES + first + i] = s->largest[i] + logf(s->sum[i]);
}

INLINE void KERNEL_keys(KERNEL_Block *s, const stored *q, const stored *k, const stored *v, int n, int g,
                        int first) {
    SIZES;
    const Head query = {&QUERY, QUERIES, H, W, g * (C / HEADS), C / HEADS},
               key = {&KEY, KEYS, IH, IW, g * (C / HEADS), C / HEADS},
               value = {&VALUE, KEYS, IH, IW, g * (CV / HEADS), CV / HEADS};
    head_load(s->key, q, &query, n, first);
    turn(s->query, s->key, C / HEADS, (real)TIMES);
    for (int at = 0; at < (CAUSAL ? min_int(KEYS, first + BLOCK_POINTS) : KEYS); at += BLOCK_POINTS) {
        head_load(s->key, k, &key, n, at);
        head_load(s->value, v, &value, n, at);
        multiply_points(s->product, s->key, s->query, C / HEADS);
        if (hides(at, first, KEYS, CAUSAL))
            hide(s->product, at, first, KEYS, CAUSAL, 0);
        KERNEL_exponentials(s);
        add_points(s->mean, s->value, s->product, CV / HEADS);
    }
}

UNUSED static void KERNEL(int n, stored *restrict y, real *lse, real *scratch, const stored *q,
                          const stored *k, const stored *v) {
    SIZES;
    const int blocks = (QUERIES + BLOCK_POINTS - 1) / BLOCK_POINTS, tasks = n * HEADS * blocks;
#pragma omp for schedule(static)
    for (int task = 0; task < tasks; task++) {
        const int i = task / blocks / HEADS, g = task / blocks % HEADS,
                  first = task % blocks * BLOCK_POINTS;
        KERNEL_Block s;
        KERNEL_begin(&s, slot_of(scratch, KERNEL_elements(), SLOTS, tasks, task));
        KERNEL_keys(&s, q, k, v, i, g, first);
        KERNEL_end(&s, y, lse, i, g, first);
    }
}
/* END */
