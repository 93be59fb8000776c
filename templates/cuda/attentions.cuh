/* attentions.cuh - what attention and its gradient share: tiles of a table with a row for each point of a
 * block and a column for each of as many others.
 *
 * SIDE threads have the row of a point.  Thread `lane` of them has every SIDE-th column, and every SIDE-th
 * channel of a sum.  Channels go through shared memory TILE at a time. */
#include "prologue.cuh"

/* BEGIN */
enum {
    ATTENTION_TILE = 32,                              /* points of a block, and channels at a time */
    ATTENTION_SIDE = THREADS / ATTENTION_TILE,        /* threads of a row */
    ATTENTION_SHARE = ATTENTION_TILE / ATTENTION_SIDE /* columns of a thread */
};

/* A tile in shared memory, whose columns lie in different banks. */
typedef real AttentionTile[ATTENTION_TILE][ATTENTION_TILE + 1];

/* The points of a head in a tensor; `at` is the first number of the first one. */
struct AttentionHead {
    const stored *at;
    int points, channels, block;
};

DEVICE AttentionHead attention_head(const stored *x, int block, int n, int g, int points, int channels) {
    return {x + (long)n * points * block + g * channels, points, channels, block};
}

/* Beyond the points and the channels it is 0. */
DEVICE real attention_number(AttentionHead h, int point, int c) {
    return point < h.points && c < h.channels ? load(h.at, (long)point * h.block + c) : 0;
}

/* A tile of points from `first` on, and of channels from `channel` on. */
DEVICE void attention_fetch(AttentionTile &tile, AttentionHead h, int first, int channel) {
    for (int i = threadIdx.x; i < ATTENTION_TILE * ATTENTION_TILE; i += THREADS)
        tile[i / ATTENTION_TILE][i % ATTENTION_TILE] =
            attention_number(h, first + i / ATTENTION_TILE, channel + i % ATTENTION_TILE);
}

struct AttentionProducts {
    real of[ATTENTION_SHARE];
};

/* The products of the thread's row, a point of `rows`, with its columns, points of `columns`. */
DEVICE AttentionProducts attention_products(AttentionTile &left, AttentionTile &right, AttentionHead rows,
                                            int first_row, AttentionHead columns, int first_column) {
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE;
    AttentionProducts products = {};
    for (int channel = 0; channel < rows.channels; channel += ATTENTION_TILE) {
        __syncthreads();
        attention_fetch(left, rows, first_row, channel);
        attention_fetch(right, columns, first_column, channel);
        __syncthreads();
        for (int c = 0; c < ATTENTION_TILE; c++)
            for (int m = 0; m < ATTENTION_SHARE; m++)
                products.of[m] += left[row][c] * right[lane + m * ATTENTION_SIDE][c];
    }
    return products;
}

/* The channels of a head that a thread sums. */
template <int CHANNELS> struct AttentionSums {
    static constexpr int tiles = (CHANNELS + ATTENTION_TILE - 1) / ATTENTION_TILE;
    real of[tiles * ATTENTION_SHARE];
};

/* sums += the row of the table times the points of h from `first` on. */
template <int CHANNELS>
DEVICE void attention_add(AttentionSums<CHANNELS> &sums, AttentionTile &table, AttentionTile &tile,
                          AttentionHead h, int first) {
    const int row = threadIdx.x / ATTENTION_SIDE, lane = threadIdx.x % ATTENTION_SIDE;
#pragma unroll
    for (int t = 0; t < AttentionSums<CHANNELS>::tiles; t++) {
        __syncthreads();
        attention_fetch(tile, h, first, t * ATTENTION_TILE);
        __syncthreads();
        for (int k = 0; k < ATTENTION_TILE; k++)
            for (int m = 0; m < ATTENTION_SHARE; m++)
                sums.of[t * ATTENTION_SHARE + m] += table[row][k] * tile[k][lane + m * ATTENTION_SIDE];
    }
}

/* The thread's channels of head g of a point, times a factor.  The last head has the channels that only
 * pad, which are 0. */
template <int CHANNELS, int HEADS, int BLOCK>
DEVICE void attention_store(stored *x, long point, int g, AttentionSums<CHANNELS> sums, real factor) {
    const int lane = threadIdx.x % ATTENTION_SIDE;
#pragma unroll
    for (int k = 0; k < AttentionSums<CHANNELS>::tiles * ATTENTION_SHARE; k++)
        if (lane + k * ATTENTION_SIDE < CHANNELS)
            store(x, point * BLOCK + g * CHANNELS + lane + k * ATTENTION_SIDE, factor * sums.of[k]);
    for (int c = HEADS * CHANNELS + lane; g == HEADS - 1 && c < BLOCK; c += ATTENTION_SIDE)
        store(x, point * BLOCK + c, 0);
}

/* The sample, the head and the first point of a block. */
struct AttentionPlace {
    int n, g, first;
};

DEVICE AttentionPlace attention_place(int points, int heads) {
    const int blocks = (points + ATTENTION_TILE - 1) / ATTENTION_TILE, head = blockIdx.x / blocks;
    return {head / heads, head % heads, (int)(blockIdx.x % blocks) * ATTENTION_TILE};
}

[[maybe_unused]] static constexpr unsigned attention_blocks(int samples, int points, int heads) {
    return (unsigned)samples * heads * ((points + ATTENTION_TILE - 1) / ATTENTION_TILE);
}
/* END */
