/* channel_attention.cu - for each channel of q the sum of all channels of v in its head, weighted by its
 * products with the channels of k, or their SOFTMAX; and the products and factors, which the gradient
 * reads.
 *
 * Blocks sum bands of points, then a block has a row of a table, then a block has a tile of the result. */
#include "channel_tables.cuh"

#define KERNEL channel_attention
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_bands(real *__restrict__ scratch, const stored *__restrict__ q,
                                    const stored *__restrict__ k) {
    SIZES;
    using Table = ChannelTable<C / HEADS, CV / HEADS>;
    constexpr int tiles = Table::row_tiles * Table::column_tiles;
    const int tile = blockIdx.x % tiles, band = blockIdx.x / tiles % BANDS,
              head = blockIdx.x / tiles / BANDS;
    channel_sums<NORMALIZE>(
        channel_table<C / HEADS, CV / HEADS>(scratch, head, BANDS + 2, band), tile,
        channel_head(q, QUERY.block, {ID, IH, IW}, head / HEADS, head % HEADS, C / HEADS),
        channel_head(k, KEY.block, {ID, IH, IW}, head / HEADS, head % HEADS, CV / HEADS), band, BANDS);
}

/* 1 / the length of a channel. */
DEVICE real KERNEL_factor(const real *squares, long apart) {
    SIZES;
    return NORMALIZE ? 1 / fmaxf(sqrtf(channel_sum(squares, apart, BANDS)), 1e-12f) : 1;
}

static __global__ void KERNEL_rows(real *__restrict__ products, real *__restrict__ scratch,
                                   const stored *__restrict__ t) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS;
    const int row = blockIdx.x % rows, head = blockIdx.x / rows, n = head / HEADS, g = head % HEADS;
    const auto sums = channel_table<rows, columns>(scratch, head, BANDS + 2, 0),
               shares = channel_table<rows, columns>(scratch, head, BANDS + 2, BANDS);
    real *const table = products + n * PRODUCTS.sample, *const factors = table + (long)C * columns,
                *const product = table + ((long)g * rows + row) * columns;
    const real of_q = KERNEL_factor(sums.by_row() + row, sums.elements);
    if (threadIdx.x == 0)
        factors[g * rows + row] = of_q;
    for (int j = threadIdx.x; j < columns; j += THREADS) {
        const real of_k = KERNEL_factor(sums.by_column() + j, sums.elements);
        product[j] = channel_sum(sums.of + (long)row * columns + j, sums.elements, BANDS) * of_q * of_k;
        if (row == 0)
            factors[C + g * columns + j] = of_k;
    }
    const real heat = TEMPERED ? load(t, (long)n * T.block + g) : 1;
    channel_shares<SOFTMAX>(shares.of + (long)row * columns, product, columns, (real)TIMES * heat);
}

static __global__ void KERNEL_points(stored *__restrict__ y, real *__restrict__ scratch,
                                     const stored *__restrict__ v) {
    SIZES;
    constexpr int rows = C / HEADS, columns = CV / HEADS, tiles = ChannelTable<rows, columns>::row_tiles,
                  blocks = (D * H * W + ATTENTION_TILE - 1) / ATTENTION_TILE;
    const int tile = blockIdx.x % tiles, block = blockIdx.x / tiles % blocks,
              head = blockIdx.x / tiles / blocks, n = head / HEADS, g = head % HEADS;
    const auto shares = channel_table<rows, columns>(scratch, head, BANDS + 2, BANDS);
    const AttentionHead of_v = channel_head(v, VALUE.block, {D, H, W}, n, g, columns);
    channel_store(y, Y.block, of_v, {shares.of, columns, 1, rows, columns}, of_v, NULL, n, g,
                  block * ATTENTION_TILE, tile, g == HEADS - 1);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, real *products, real *scratch, const stored *q,
                     const stored *k, const stored *v, const stored *t) {
    SIZES;
    using Table = ChannelTable<C / HEADS, CV / HEADS>;
    static_assert(SCRATCH / (int)sizeof(real) >= (long)N * HEADS * (BANDS + 2) * Table::elements,
                  "a table for each band of a head, and two more");
    constexpr unsigned heads = N * HEADS, blocks = (D * H * W + ATTENTION_TILE - 1) / ATTENTION_TILE;
    LAUNCH_BLOCKS(at, KERNEL_bands, heads * BANDS * Table::row_tiles * Table::column_tiles, scratch, q, k);
    LAUNCH_BLOCKS(at, KERNEL_rows, heads * (C / HEADS), products, scratch, t);
    LAUNCH_BLOCKS(at, KERNEL_points, heads * blocks * Table::row_tiles, y, scratch, v);
}
/* END */
