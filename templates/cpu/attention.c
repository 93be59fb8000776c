/* attention.c - for each query the mean of all values, weighted by the softmax of its products with the
 * keys and a bias; and the logarithm of what the softmax divides by.
 *
 * Keys of a window come a block at a time.  A larger product than all before makes what was summed smaller,
 * so nobody keeps the products of a row. */
#include "attentions.c"

#define KERNEL attention
#include "../example.h"

/* BEGIN */
/* A block of queries, and one of keys.  Each query has the largest product so far, and the sum of the
 * exponentials. */
typedef struct {
    real *query, *mean, *key, *value, *bias;
    Places queries, keys;
    real largest[BLOCK_POINTS], sum[BLOCK_POINTS], product[BLOCK_POINTS * BLOCK_POINTS];
} KERNEL_Block;

INLINE Windows KERNEL_windows_of_q(void) {
    SIZES;
    return (Windows){
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, {BD, BH, BW}, PAIRS};
}

INLINE Windows KERNEL_windows_of_k(void) {
    SIZES;
    return (Windows){{ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, {BD, BH, BW}, PAIRS};
}

/* A tensor of the size of q, or of k, with the channels of q, or of v. */
INLINE Head KERNEL_asking(const Layout *l, Part at, int channels) {
    SIZES;
    return (Head){l,         KERNEL_windows_of_q(),     QUERIES,
                  at.window, at.g * (channels / HEADS), channels / HEADS};
}

INLINE Head KERNEL_answering(const Layout *l, Part at, int channels) {
    SIZES;
    return (Head){l, KERNEL_windows_of_k(), KEYS, at.window, at.g * (channels / HEADS), channels / HEADS};
}

INLINE long KERNEL_elements(void) {
    SIZES;
    const Windows windows = KERNEL_windows_of_q();
    return 2L * BLOCK_POINTS * (C / HEADS + CV / HEADS) + (BIAS ? bias_elements(&windows) : 0);
}

INLINE void KERNEL_begin(KERNEL_Block *s, real *slot) {
    SIZES;
    s->query = slot;
    s->key = s->query + BLOCK_POINTS * (C / HEADS);
    s->value = s->key + BLOCK_POINTS * (C / HEADS);
    s->mean = s->value + BLOCK_POINTS * (CV / HEADS);
    s->bias = s->mean + BLOCK_POINTS * (CV / HEADS);
    memset(s->mean, 0, BLOCK_POINTS * (CV / HEADS) * sizeof *s->mean);
    for (int i = 0; i < BLOCK_POINTS; i++)
        s->largest[i] = -FLT_MAX, s->sum[i] = 0; /* no infinity: a query may see none of the first keys */
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
INLINE void KERNEL_end(KERNEL_Block *s, stored *y, real *lse, Part at) {
    SIZES;
    const Head mean = KERNEL_asking(&Y, at, CV);
    const long row = ((long)at.g * WINDOWS + at.window) * QUERIES + at.first;
    for (int c = 0; c < CV / HEADS; c++)
        for (int i = 0; i < BLOCK_POINTS; i++)
            s->mean[c * BLOCK_POINTS + i] /= s->sum[i];
    turn_back(s->value, s->mean, CV / HEADS, 1);
    head_store(y, s->value, &mean, at.n, at.first);
    for (int i = 0; lse && i < BLOCK_POINTS && at.first + i < QUERIES; i++)
        lse[at.n * LSE.sample + row + i] = s->largest[i] + logf(s->sum[i]);
}

/* Adds the bias to the products of a block of keys, and hides what no query sees. */
INLINE void KERNEL_see(KERNEL_Block *s, const stored *b, const Head *key, Part at, int first_key) {
    SIZES;
    const Windows windows = KERNEL_windows_of_q();
    const int first_query = at.first;
    if (BIAS || is_rolled(&windows))
        find_places(&s->keys, key, first_key);
    if (PAIRS > 0)
        add_pairs(s->product, b, &B, &windows, at.n, at.g, first_key, first_query, 0);
    else if (BIAS)
        add_bias(s->product, s->bias, &windows, &s->keys, &s->queries, 0);
    if (is_rolled(&windows))
        hide_other_sides(s->product, &s->keys, &s->queries);
    if (hides(first_key, first_query, KEYS, CAUSAL))
        hide(s->product, first_key, first_query, KEYS, CAUSAL, 0);
}

INLINE void KERNEL_keys(KERNEL_Block *s, const stored *q, const stored *k, const stored *v, const stored *b,
                        Part at) {
    SIZES;
    const Head query = KERNEL_asking(&QUERY, at, C), key = KERNEL_answering(&KEY, at, C),
               value = KERNEL_answering(&VALUE, at, CV);
    head_load(s->key, q, &query, at.n, at.first);
    turn(s->query, s->key, C / HEADS, (real)TIMES);
    if (BIAS || is_rolled(&query.windows))
        find_places(&s->queries, &query, at.first);
    if (BIAS)
        bias_load(s->bias, b, &B, &query.windows, at.n, at.g);
    const int end = CAUSAL ? min_int(KEYS, at.first + BLOCK_POINTS) : KEYS;
    for (int first = 0; first < end; first += BLOCK_POINTS) {
        head_load(s->key, k, &key, at.n, first);
        head_load(s->value, v, &value, at.n, first);
        multiply_points(s->product, s->key, s->query, C / HEADS);
        KERNEL_see(s, b, &key, at, first);
        KERNEL_exponentials(s);
        add_points(s->mean, s->value, s->product, CV / HEADS);
    }
}

UNUSED static void KERNEL(int n, stored *restrict y, real *lse, real *scratch, const stored *q,
                          const stored *k, const stored *v, const stored *b) {
    SIZES;
    const int blocks = (QUERIES + BLOCK_POINTS - 1) / BLOCK_POINTS, tasks = n * HEADS * WINDOWS * blocks;
#pragma omp for schedule(static)
    for (int task = 0; task < tasks; task++) {
        const Part at = part_of(task, HEADS, WINDOWS, blocks);
        KERNEL_Block s;
        KERNEL_begin(&s, slot_of(scratch, KERNEL_elements(), SLOTS, tasks, task));
        KERNEL_keys(&s, q, k, v, b, at);
        KERNEL_end(&s, y, lse, at);
    }
}
/* END */
