/* channel_attention_grad.cu - gradients of attention over channels by queries, keys, values and the
 * temperature, from the products and factors that were kept.
 *
 * Blocks sum bands of points, then a block has a row of a table, then a column.  At last a block has a tile
 * of a gradient: first dq, then dk, then dv. */
#include "channel_tables.cuh"

#define KERNEL channel_attention_grad
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Operands {
    const stored *q, *k, *v, *dy, *t;
    const real *products;
    real *scratch;
};

/* The products of a head, and the factors of its channels of q, or of k. */
DEVICE const real *KERNEL_products(const KERNEL_Operands &of, int head) {
    SIZES;
    return of.products + head / HEADS * PRODUCTS.sample + (long)(head % HEADS) * (C / HEADS) * (CV / HEADS);
}

DEVICE const real *KERNEL_factors(const KERNEL_Operands &of, int head, bool of_k) {
    SIZES;
    const real *const of_q = of.products + head / HEADS * PRODUCTS.sample + (long)C * (CV / HEADS);
    return of_k ? of_q + C + head % HEADS * (CV / HEADS) : of_q + head % HEADS * (C / HEADS);
}

static __global__ void KERNEL_bands(KERNEL_Operands of) {
    SIZES;
    using Table = ChannelTable<C / HEADS, CV / HEADS>;
    constexpr int tiles = Table::row_tiles * Table::column_tiles;
    const int tile = blockIdx.x % tiles, band = blockIdx.x / tiles % BANDS,
              head = blockIdx.x / tiles / BANDS;
    channel_sums<0>(channel_table<C / HEADS, CV / HEADS>(of.scratch, head, BANDS + 2, band), tile,
                    channel_head(of.dy, DY.block, {D, H, W}, head / HEADS, head % HEADS, C / HEADS),
                    channel_head(of.v, VALUE.block, {D, H, W}, head / HEADS, head % HEADS, CV / HEADS),
                    band, BANDS);
}

/* The slopes of a row, which are multiplied with the factors of q and k; the row's part of the gradient by
 * the temperature; and how much longer the slopes would make the channel of q. */
static __global__ void KERNEL_rows(KERNEL_Operands of) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS;
    const int row = blockIdx.x % rows, head = blockIdx.x / rows;
    const auto sums = channel_table<rows, columns>(of.scratch, head, BANDS + 2, 0),
               shares = channel_table<rows, columns>(of.scratch, head, BANDS + 2, BANDS),
               slopes = channel_table<rows, columns>(of.scratch, head, BANDS + 2, BANDS + 1);
    const real *const product = KERNEL_products(of, head) + (long)row * columns;
    real *const share = shares.of + (long)row * columns, *const slope = slopes.of + (long)row * columns;
    const real of_q = KERNEL_factors(of, head, false)[row],
               heat =
                   (real)TIMES * (TEMPERED ? load(of.t, (long)(head / HEADS) * T.block + head % HEADS) : 1);
    channel_shares<SOFTMAX>(share, product, columns, heat);
    real part = 0;
    for (int j = threadIdx.x; j < columns; j += THREADS) {
        slope[j] = channel_sum(sums.of + (long)row * columns + j, sums.elements, BANDS);
        part += share[j] * slope[j];
    }
    const real mean = channel_total(part, columns);
    part = 0;
    for (int j = threadIdx.x; j < columns; j += THREADS) {
        const real by_product = SOFTMAX > 0 ? share[j] * (slope[j] - mean) : slope[j];
        part += by_product * product[j];
        slope[j] = heat * by_product * of_q * KERNEL_factors(of, head, true)[j];
    }
    const real by_temperature = channel_total(part, columns);
    if (threadIdx.x == 0) {
        shares.by_row()[row] = (real)TIMES * by_temperature;
        slopes.by_row()[row] = NORMALIZE ? heat * by_temperature * of_q * of_q : 0;
    }
}

/* How much longer the slopes would make the channels of k. */
static __global__ void KERNEL_columns(KERNEL_Operands of) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= (unsigned)N * CV)
        return;
    const int head = i / columns, j = i % columns;
    const auto slopes = channel_table<rows, columns>(of.scratch, head, BANDS + 2, BANDS + 1);
    const real *const product = KERNEL_products(of, head), *const of_q = KERNEL_factors(of, head, false);
    real sum = 0;
    for (int row = 0; row < rows && NORMALIZE; row++)
        sum += slopes.of[(long)row * columns + j] * product[(long)row * columns + j] / of_q[row];
    slopes.by_column()[j] = sum * KERNEL_factors(of, head, true)[j];
}

static __global__ void KERNEL_by_query(stored *__restrict__ dq, KERNEL_Operands of) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS, tiles = ChannelTable<rows, columns>::row_tiles,
                  blocks = (ID * IH * IW + ATTENTION_TILE - 1) / ATTENTION_TILE;
    const int tile = blockIdx.x % tiles, block = blockIdx.x / tiles % blocks,
              head = blockIdx.x / tiles / blocks, n = head / HEADS, g = head % HEADS;
    const auto slopes = channel_table<rows, columns>(of.scratch, head, BANDS + 2, BANDS + 1);
    channel_store(dq, DQ.block, channel_head(of.k, KEY.block, {ID, IH, IW}, n, g, columns),
                  {slopes.of, columns, 1, rows, columns},
                  channel_head(of.q, QUERY.block, {ID, IH, IW}, n, g, rows), slopes.by_row(), n, g,
                  block * ATTENTION_TILE, tile, g == HEADS - 1);
}

static __global__ void KERNEL_by_key(stored *__restrict__ dk, KERNEL_Operands of) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS, tiles = ChannelTable<rows, columns>::column_tiles,
                  blocks = (ID * IH * IW + ATTENTION_TILE - 1) / ATTENTION_TILE;
    const int tile = blockIdx.x % tiles, block = blockIdx.x / tiles % blocks,
              head = blockIdx.x / tiles / blocks, n = head / HEADS, g = head % HEADS;
    const auto slopes = channel_table<rows, columns>(of.scratch, head, BANDS + 2, BANDS + 1);
    channel_store(dk, DK.block, channel_head(of.q, QUERY.block, {ID, IH, IW}, n, g, rows),
                  {slopes.of, 1, columns, columns, rows},
                  channel_head(of.k, KEY.block, {ID, IH, IW}, n, g, columns), slopes.by_column(), n, g,
                  block * ATTENTION_TILE, tile, g == HEADS - 1);
}

static __global__ void KERNEL_by_value(stored *__restrict__ dv, KERNEL_Operands of) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS, tiles = ChannelTable<rows, columns>::column_tiles,
                  blocks = (D * H * W + ATTENTION_TILE - 1) / ATTENTION_TILE;
    const int tile = blockIdx.x % tiles, block = blockIdx.x / tiles % blocks,
              head = blockIdx.x / tiles / blocks, n = head / HEADS, g = head % HEADS;
    const auto shares = channel_table<rows, columns>(of.scratch, head, BANDS + 2, BANDS);
    const AttentionHead dy = channel_head(of.dy, DY.block, {D, H, W}, n, g, rows);
    channel_store(dv, DV.block, dy, {shares.of, 1, columns, columns, rows}, dy, NULL, n, g,
                  block * ATTENTION_TILE, tile, g == HEADS - 1);
}

/* Heads are channels; channels that only pad become zero. */
static __global__ void KERNEL_by_temperature(stored *__restrict__ dt, KERNEL_Operands of) {
    SIZES;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= (unsigned)N * DT.block)
        return;
    const int n = i / DT.block, g = i % DT.block;
    real sum = 0;
    for (int row = 0; row < C / HEADS && g < HEADS; row++)
        sum += channel_table<C / HEADS, CV / HEADS>(of.scratch, (long)n * HEADS + g, BANDS + 2, BANDS)
                   .by_row()[row];
    store(dt, i, sum);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dq, stored *dk, stored *dv, stored *dt, real *scratch,
                     const stored *q, const stored *k, const stored *v, const real *products,
                     const stored *dy, const stored *t) {
    SIZES;
    using Table = ChannelTable<C / HEADS, CV / HEADS>;
    static_assert(SCRATCH / (int)sizeof(real) >= (long)N * HEADS * (BANDS + 2) * Table::elements,
                  "a table for each band of a head, and two more");
    const KERNEL_Operands of = {q, k, v, dy, t, products, scratch};
    constexpr unsigned heads = N * HEADS, pairs = (ID * IH * IW + ATTENTION_TILE - 1) / ATTENTION_TILE,
                       blocks = (D * H * W + ATTENTION_TILE - 1) / ATTENTION_TILE;
    LAUNCH_BLOCKS(at, KERNEL_bands, heads * BANDS * Table::row_tiles * Table::column_tiles, of);
    LAUNCH_BLOCKS(at, KERNEL_rows, heads * (C / HEADS), of);
    LAUNCH(at, KERNEL_columns, blocks_for(N * CV), of);
    LAUNCH_BLOCKS(at, KERNEL_by_query, heads * pairs * Table::row_tiles, dq, of);
    LAUNCH_BLOCKS(at, KERNEL_by_key, heads * pairs * Table::column_tiles, dk, of);
    LAUNCH_BLOCKS(at, KERNEL_by_value, heads * blocks * Table::column_tiles, dv, of);
    if (dt != NULL)
        LAUNCH(at, KERNEL_by_temperature, blocks_for(N * DT.block), dt, of);
}
/* END */
