/* attention.cu - for each query the mean of all values, weighted by the softmax of its products with the
 * keys and a bias; and the logarithm of what the softmax divides by.
 *
 * A block has some queries of a head in a window, and goes through the keys of the window tile by tile.  A
 * larger product than all before makes what was summed smaller, so nobody keeps the products of a row. */
#include "attentions.cuh"

#define KERNEL attention
#include "../example_cuda.h"

/* BEGIN */
/* The largest product of a row, of all tiles so far; a NaN is more than any number. */
DEVICE real KERNEL_largest(AttentionTile &table, int row, real before) {
    for (int k = 0; k < ATTENTION_TILE; k++)
        before = table[row][k] > before || table[row][k] != table[row][k] ? table[row][k] : before;
    return before;
}

/* The product of a query and a key, scaled, with the bias; -infinity: the query does not see the key. */
DEVICE real KERNEL_seen(real product, const stored *b, AttentionPlace at, int query, int key) {
    SIZES;
    constexpr AttentionWindows windows = {
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    if (query >= QUERIES || key >= KEYS || (CAUSAL && key > query) ||
        !attention_sees(windows, at.window, query, key))
        return -INFINITY;
    if (!BIAS)
        return (real)TIMES * product;
    const long point = (long)at.n * attention_bias_points(windows.window, PAIRS) +
                       attention_bias_number(windows, query, key);
    return (real)TIMES * product + load(b, point * B.block + at.g);
}

static __global__ void KERNEL_queries(stored *__restrict__ y, real *__restrict__ lse,
                                      const stored *__restrict__ q, const stored *__restrict__ k,
                                      const stored *__restrict__ v, const stored *__restrict__ b) {
    SIZES;
    constexpr AttentionWindows of_q = {
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    constexpr AttentionWindows of_k = {
        {ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, share, );
    const AttentionPlace at = attention_place(QUERIES, HEADS, WINDOWS);
    const AttentionHead queries = attention_head(q, QUERY.block, at, of_q, C / HEADS),
                        keys = attention_head(k, KEY.block, at, of_k, C / HEADS),
                        values = attention_head(v, VALUE.block, at, of_k, CV / HEADS);
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE,
              query = at.first + row;
    AttentionSums<CV / HEADS> means = {};
    real largest = ATTENTION_LEAST, sum = 0;
    for (int first = 0; first < KEYS && (!CAUSAL || first < at.first + ATTENTION_TILE);
         first += ATTENTION_TILE) {
        const AttentionProducts products = attention_products(left, right, queries, at.first, keys, first);
        for (int m = 0; m < ATTENTION_SHARE; m++) {
            const int column = lane + m * ATTENTION_SIDE;
            share[row][column] = KERNEL_seen(products.of[m], b, at, query, first + column);
        }
        __syncthreads();
        const real before = largest;
        largest = KERNEL_largest(share, row, before);
        __syncthreads();
        for (int m = 0; m < ATTENTION_SHARE; m++) {
            const int column = lane + m * ATTENTION_SIDE;
            share[row][column] = expf(share[row][column] - largest);
        }
        __syncthreads();
        const real smaller = expf(before - largest);
        sum *= smaller;
        for (int column = 0; column < ATTENTION_TILE; column++)
            sum += share[row][column];
#pragma unroll
        for (int c = 0; c < AttentionSums<CV / HEADS>::tiles * ATTENTION_SHARE; c++)
            means.of[c] *= smaller;
        attention_add(means, share, right, values, first);
    }
    if (query >= QUERIES)
        return;
    attention_store<CV / HEADS, HEADS, Y.block>(
        y, (long)at.n * WINDOWS * QUERIES + attention_point(of_q, at.window, query), at.g, means, 1 / sum);
    if (lse && lane == 0)
        lse[at.n * LSE.sample + ((long)at.g * WINDOWS + at.window) * QUERIES + query] = largest + logf(sum);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, real *lse, real *scratch, const stored *q, const stored *k,
                     const stored *v, const stored *b) {
    SIZES;
    (void)scratch;
    LAUNCH_BLOCKS(at, KERNEL_queries, attention_blocks(N, QUERIES, HEADS, WINDOWS), y, lse, q, k, v, b);
}
/* END */
