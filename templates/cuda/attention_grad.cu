/* attention_grad.cu - gradients of attention by queries, keys, values and the bias.
 *
 * Two kernels make the softmax once more: in one a block has some queries, in the other some keys, and goes
 * through all others tile by tile.  So each sum has one place and one order.  For the bias a third kernel
 * does so.  A thread has some points of the bias.  For a bias of differences of points, a block has a band
 * of the queries of a head; for a bias of pairs, the same tile of queries of all windows. */
#include "attentions.cuh"

#define KERNEL attention_grad
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Operands {
    const stored *q, *k, *v, *y, *dy, *b;
    const real *lse;
    real *sums;    /* of dy * y, for each head and query; */
    real *by_bias; /*   of slopes, for each head, band and point of the bias */
};

/* The share that a query has of a key, given their product; 0 where there is none. */
DEVICE real KERNEL_share(real product, const KERNEL_Operands &of, AttentionPlace at, int query, int key) {
    SIZES;
    constexpr AttentionWindows of_q = {
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    if (query >= QUERIES || key >= KEYS || (CAUSAL && key > query) ||
        !attention_sees(of_q, at.window, query, key))
        return 0;
    const real lse = of.lse[at.n * LSE.sample + ((long)at.g * WINDOWS + at.window) * QUERIES + query];
    if (!BIAS)
        return expf((real)TIMES * product - lse);
    const long point =
        (long)at.n * attention_bias_points(of_q.window, PAIRS) + attention_bias_number(of_q, query, key);
    return expf((real)TIMES * product + load(of.b, point * B.block + at.g) - lse);
}

DEVICE real *KERNEL_sum(const KERNEL_Operands &of, AttentionPlace at, int query) {
    SIZES;
    return of.sums + (((long)at.n * HEADS + at.g) * WINDOWS + at.window) * QUERIES + query;
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
    constexpr AttentionWindows of_q = {
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    constexpr AttentionWindows of_k = {
        {ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, slope, );
    const AttentionPlace at = attention_place(QUERIES, HEADS, WINDOWS);
    const AttentionHead q = attention_head(of.q, QUERY.block, at, of_q, C / HEADS),
                        k = attention_head(of.k, KEY.block, at, of_k, C / HEADS),
                        v = attention_head(of.v, VALUE.block, at, of_k, CV / HEADS),
                        y = attention_head(of.y, Y.block, at, of_q, CV / HEADS),
                        dy = attention_head(of.dy, DY.block, at, of_q, CV / HEADS);
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
    attention_store<C / HEADS, HEADS, DQ.block>(
        dq, (long)at.n * WINDOWS * QUERIES + attention_point(of_q, at.window, query), at.g, sums,
        (real)TIMES);
    if (lane == 0)
        *KERNEL_sum(of, at, query) = sum;
}

static __global__ void KERNEL_by_key(stored *__restrict__ dk, stored *__restrict__ dv, KERNEL_Operands of) {
    SIZES;
    constexpr AttentionWindows of_q = {
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    constexpr AttentionWindows of_k = {
        {ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, share, );
    SHARED(AttentionTile, slope, );
    const AttentionPlace at = attention_place(KEYS, HEADS, WINDOWS);
    const AttentionHead q = attention_head(of.q, QUERY.block, at, of_q, C / HEADS),
                        k = attention_head(of.k, KEY.block, at, of_k, C / HEADS),
                        v = attention_head(of.v, VALUE.block, at, of_k, CV / HEADS),
                        dy = attention_head(of.dy, DY.block, at, of_q, CV / HEADS);
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
    const long point = (long)at.n * WINDOWS * KEYS + attention_point(of_k, at.window, key);
    attention_store<C / HEADS, HEADS, DK.block>(dk, point, at.g, by_key, (real)TIMES);
    attention_store<CV / HEADS, HEADS, DV.block>(dv, point, at.g, by_value, 1);
}

/* Adds the slopes of a tile to the sums of the thread's differences. */
DEVICE void KERNEL_add_slopes(real *sums, AttentionTile &slope, int first_query, int first_key) {
    SIZES;
    constexpr AttentionAxes window = {QUERY_D, QUERY_H, QUERY_W},
                            twice = {2 * QUERY_D - 1, 2 * QUERY_H - 1, 2 * QUERY_W - 1};
    for (int number = threadIdx.x; number < attention_bias_points(window, 0); number += THREADS) {
        const AttentionAxes from = attention_inside(twice, number);
        real sum = 0;
        for (int row = 0; row < ATTENTION_TILE && first_query + row < QUERIES; row++) {
            const AttentionAxes query = attention_inside(window, first_query + row);
            const Point key = {0, query.d - from.d + window.d - 1, query.h - from.h + window.h - 1,
                               query.w - from.w + window.w - 1, 0};
            const int column = (key.d * window.h + key.h) * window.w + key.w - first_key;
            if (inside({window.d, window.h, window.w, 1}, key) && column >= 0 && column < ATTENTION_TILE)
                sum += slope[row][column];
        }
        sums[number] += sum;
    }
}

/* The same if the bias has a point for each pair: each slope belongs to another point. */
DEVICE void KERNEL_add_pairs(real *sums, AttentionTile &slope, int first_query, int first_key) {
    SIZES;
    for (int i = threadIdx.x; i < ATTENTION_TILE * ATTENTION_TILE; i += THREADS) {
        const int query = first_query + i / ATTENTION_TILE, key = first_key + i % ATTENTION_TILE;
        if (query < QUERIES && key < KEYS)
            sums[(long)query * PAIRS + key] += slope[i / ATTENTION_TILE][i % ATTENTION_TILE];
    }
}

/* The slopes of a tile of queries and all keys of their window, once more. */
DEVICE void KERNEL_tile_by_bias(AttentionTile &left, AttentionTile &right, AttentionTile &slope, real *sums,
                                const KERNEL_Operands &of, AttentionPlace at) {
    SIZES;
    constexpr AttentionWindows of_q = {
        {D, H, W}, {QUERY_D, QUERY_H, QUERY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    constexpr AttentionWindows of_k = {
        {ID, IH, IW}, {KEY_D, KEY_H, KEY_W}, {SHIFT_D, SHIFT_H, SHIFT_W}, PAIRS};
    const AttentionHead q = attention_head(of.q, QUERY.block, at, of_q, C / HEADS),
                        k = attention_head(of.k, KEY.block, at, of_k, C / HEADS),
                        v = attention_head(of.v, VALUE.block, at, of_k, CV / HEADS),
                        dy = attention_head(of.dy, DY.block, at, of_q, CV / HEADS);
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE,
              query = at.first + row;
    const real sum = query < QUERIES ? *KERNEL_sum(of, at, query) : 0;
    for (int first = 0; first < KEYS; first += ATTENTION_TILE) {
        const AttentionProducts products = attention_products(left, right, q, at.first, k, first),
                                slopes = attention_products(left, right, dy, at.first, v, first);
        for (int m = 0; m < ATTENTION_SHARE; m++) {
            const int column = lane + m * ATTENTION_SIDE;
            slope[row][column] =
                KERNEL_share(products.of[m], of, at, query, first + column) * (slopes.of[m] - sum);
        }
        __syncthreads();
        if (PAIRS > 0)
            KERNEL_add_pairs(sums, slope, at.first, first);
        else
            KERNEL_add_slopes(sums, slope, at.first, first);
    }
}

static __global__ void KERNEL_by_bias(KERNEL_Operands of) {
    SIZES;
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, slope, );
    constexpr int tiles = (QUERIES + ATTENTION_TILE - 1) / ATTENTION_TILE,
                  points = BIAS ? attention_bias_points({QUERY_D, QUERY_H, QUERY_W}, 0) : 1;
    const int head = blockIdx.x / BANDS;
    const unsigned band = blockIdx.x % BANDS, end = part_start(WINDOWS * tiles, BANDS, band + 1);
    real *const sums = of.by_bias + (long)blockIdx.x * points;
    for (int number = threadIdx.x; number < points; number += THREADS)
        sums[number] = 0;
    for (unsigned tile = part_start(WINDOWS * tiles, BANDS, band); tile < end; tile++)
        KERNEL_tile_by_bias(
            left, right, slope, sums, of,
            {head / HEADS, head % HEADS, (int)tile / tiles, (int)tile % tiles * ATTENTION_TILE});
}

/* No other block adds to the rows that its queries have in the table of the head. */
static __global__ void KERNEL_by_pairs(KERNEL_Operands of) {
    SIZES;
    SHARED(AttentionTile, left, );
    SHARED(AttentionTile, right, );
    SHARED(AttentionTile, slope, );
    constexpr int tiles = (QUERIES + ATTENTION_TILE - 1) / ATTENTION_TILE;
    const int head = blockIdx.x / tiles, first = blockIdx.x % tiles * ATTENTION_TILE;
    real *const sums = of.by_bias + (long)head * QUERIES * PAIRS;
    for (int query = first; query < QUERIES && query < first + ATTENTION_TILE; query++)
        for (int key = threadIdx.x; key < PAIRS; key += THREADS)
            sums[(long)query * PAIRS + key] = 0;
    __syncthreads();
    for (int window = 0; window < WINDOWS; window++)
        KERNEL_tile_by_bias(left, right, slope, sums, of, {head / HEADS, head % HEADS, window, first});
}

/* Heads are channels; channels that only pad become zero. */
static __global__ void KERNEL_bands(stored *__restrict__ db, const real *__restrict__ by_bias) {
    SIZES;
    constexpr int points = BIAS ? attention_bias_points({QUERY_D, QUERY_H, QUERY_W}, PAIRS) : 1;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= (unsigned)N * points * DB.block)
        return;
    const int g = i % DB.block, number = i / DB.block % points, n = i / DB.block / points;
    real sum = 0;
    for (int band = 0; band < BANDS && g < HEADS; band++)
        sum += by_bias[(((long)n * HEADS + g) * BANDS + band) * points + number];
    store(db, i, sum);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dq, stored *dk, stored *dv, stored *db, real *scratch,
                     const stored *q, const stored *k, const stored *v, const stored *y, const real *lse,
                     const stored *dy, const stored *b) {
    SIZES;
    constexpr long rows = (long)N * HEADS * WINDOWS * QUERIES;
    constexpr int points = BIAS ? attention_bias_points({QUERY_D, QUERY_H, QUERY_W}, PAIRS) : 0;
    static_assert(SCRATCH / (int)sizeof(real) >= rows + (long)N * HEADS * BANDS * points,
                  "a sum for each head and query, and for each point of the bias of each band");
    const KERNEL_Operands of = {q, k, v, y, dy, b, lse, scratch, scratch + rows};
    LAUNCH_BLOCKS(at, KERNEL_by_query, attention_blocks(N, QUERIES, HEADS, WINDOWS), dq, of);
    LAUNCH_BLOCKS(at, KERNEL_by_key, attention_blocks(N, KEYS, HEADS, WINDOWS), dk, dv, of);
    if (!BIAS || db == NULL)
        return;
    if (PAIRS > 0)
        LAUNCH_BLOCKS(at, KERNEL_by_pairs, attention_blocks(N, QUERIES, HEADS, 1), of);
    else
        LAUNCH_BLOCKS(at, KERNEL_by_bias, N * HEADS * BANDS, of);
    LAUNCH(at, KERNEL_bands, blocks_for(N * points * DB.block), db, scratch + rows);
}
/* END */
