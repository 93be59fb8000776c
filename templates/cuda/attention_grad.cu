/* attention_grad.cu - gradients of attention by queries, keys and values.
 *
 * Two kernels make the softmax once more: in one a block has some queries, in the other some keys, and goes
 * through all others tile by tile.  So each sum has one place and one order. */
#include "attentions.cuh"

#define KERNEL attention_grad
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Operands {
    const stored *q, *k, *v, *y, *dy;
    const real *lse;
    real *sums; /* of dy * y, for each head and query */
};

/* The share that a query has of a key, given their product; 0 where there is none. */
DEVICE real KERNEL_share(real product, const KERNEL_Operands &of, AttentionPlace at, int query, int key) {
    SIZES;
    const bool sees = query < QUERIES && key < KEYS && (!CAUSAL || key <= query);
    return sees ? expf((real)TIMES * product - of.lse[at.n * LSE.sample + (long)at.g * QUERIES + query])
                : 0;
}

DEVICE real *KERNEL_sum(const KERNEL_Operands &of, AttentionPlace at, int query) {
    SIZES;
    return of.sums + ((long)at.n * HEADS + at.g) * QUERIES + query;
}

/* The sum of dy * y over the channels of a query, which its threads share. */
DEVICE real KERNEL_row_sum(AttentionTile &parts, AttentionHead y, AttentionHead dy, int query) {
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE;
    real sum = 0;
    for (int c = lane; c < y.channels; c += ATTENTION_SIDE)
        sum += attention_number(y, query, c) * attention_number(dy, query, c);
    parts[row][lane] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < ATTENTION_SIDE; k++)
        sum += parts[row][k];
    return sum;
}

static __global__ void KERNEL_by_query(stored *__restrict__ dq, KERNEL_Operands of) {
    SIZES;
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, slope, );
    const AttentionPlace at = attention_place(QUERIES, HEADS);
    const AttentionHead q = attention_head(of.q, QUERY.block, at.n, at.g, QUERIES, C / HEADS),
                        k = attention_head(of.k, KEY.block, at.n, at.g, KEYS, C / HEADS),
                        v = attention_head(of.v, VALUE.block, at.n, at.g, KEYS, CV / HEADS),
                        y = attention_head(of.y, Y.block, at.n, at.g, QUERIES, CV / HEADS),
                        dy = attention_head(of.dy, DY.block, at.n, at.g, QUERIES, CV / HEADS);
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE,
              query = at.first + row;
    const real sum = KERNEL_row_sum(slope, y, dy, query);
    AttentionSums<C / HEADS> sums = {};
    for (int first = 0; first < KEYS && (!CAUSAL || first < at.first + ATTENTION_TILE);
         first += ATTENTION_TILE) {
        const AttentionProducts products = attention_products(left, right, q, at.first, k, first),
                                slopes = attention_products(left, right, dy, at.first, v, first);
        for (int m = 0; m < ATTENTION_SHARE; m++) {
            const int column = lane + m * ATTENTION_SIDE;
            slope[row][column] =
                KERNEL_share(products.of[m], of, at, query, first + column) * (slopes.of[m] - sum);
        }
        attention_add(sums, slope, right, k, first);
    }
    if (query >= QUERIES)
        return;
    attention_store<C / HEADS, HEADS, DQ.block>(dq, (long)at.n * QUERIES + query, at.g, sums, (real)TIMES);
    if (lane == 0)
        *KERNEL_sum(of, at, query) = sum;
}

static __global__ void KERNEL_by_key(stored *__restrict__ dk, stored *__restrict__ dv, KERNEL_Operands of) {
    SIZES;
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, share, );
    SHARED(AttentionTile, slope, );
    const AttentionPlace at = attention_place(KEYS, HEADS);
    const AttentionHead q = attention_head(of.q, QUERY.block, at.n, at.g, QUERIES, C / HEADS),
                        k = attention_head(of.k, KEY.block, at.n, at.g, KEYS, C / HEADS),
                        v = attention_head(of.v, VALUE.block, at.n, at.g, KEYS, CV / HEADS),
                        dy = attention_head(of.dy, DY.block, at.n, at.g, QUERIES, CV / HEADS);
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE, key = at.first + row;
    AttentionSums<C / HEADS> by_key = {};
    AttentionSums<CV / HEADS> by_value = {};
    for (int first = CAUSAL ? at.first : 0; first < QUERIES; first += ATTENTION_TILE) {
        const AttentionProducts products = attention_products(left, right, k, at.first, q, first),
                                slopes = attention_products(left, right, v, at.first, dy, first);
        for (int m = 0; m < ATTENTION_SHARE; m++) {
            const int column = lane + m * ATTENTION_SIDE, query = first + column;
            const real of_key = KERNEL_share(products.of[m], of, at, query, key);
            share[row][column] = of_key;
            slope[row][column] = query < QUERIES ? of_key * (slopes.of[m] - *KERNEL_sum(of, at, query)) : 0;
        }
        attention_add(by_key, slope, right, q, first);
        attention_add(by_value, share, right, dy, first);
    }
    if (key >= KEYS)
        return;
    attention_store<C / HEADS, HEADS, DK.block>(dk, (long)at.n * KEYS + key, at.g, by_key, (real)TIMES);
    attention_store<CV / HEADS, HEADS, DV.block>(dv, (long)at.n * KEYS + key, at.g, by_value, 1);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dq, stored *dk, stored *dv, real *scratch, const stored *q,
                     const stored *k, const stored *v, const stored *y, const real *lse, const stored *dy) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(real) >= (long)N * HEADS * QUERIES,
                  "a sum for each head and query");
    const KERNEL_Operands of = {q, k, v, y, dy, lse, scratch};
    LAUNCH_BLOCKS(at, KERNEL_by_query, attention_blocks(N, QUERIES, HEADS), dq, of);
    LAUNCH_BLOCKS(at, KERNEL_by_key, attention_blocks(N, KEYS, HEADS), dk, dv, of);
}
/* END */
