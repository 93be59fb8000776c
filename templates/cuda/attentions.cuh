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

/* Less than all products but no infinity: a query may see none of the first keys. */
[[maybe_unused]] constexpr real ATTENTION_LEAST = -3.402823466e+38f;

struct AttentionAxes {
    int d, h, w;
};

/* A map is rolled by -shift and cut into windows.  A map by itself is one window.  PAIRS: of a bias that
 * has a row for each query of a window and a column for each key, the number of keys; else 0. */
struct AttentionWindows {
    AttentionAxes map, window, shift;
    int pairs;
};

/* The sample, the head, the window and the first point of a block. */
struct AttentionPlace {
    int n, g, window, first;
};

DEVICE bool attention_is_rolled(AttentionWindows w) {
    return w.shift.d + w.shift.h + w.shift.w > 0;
}

/* The place of point i of a window in the window, */
DEVICE AttentionAxes attention_inside(AttentionAxes window, int i) {
    return {i / window.w / window.h, i / window.w % window.h, i % window.w};
}

/* on the rolled map, */
DEVICE AttentionAxes attention_rolled(AttentionWindows w, int window, int i) {
    const int columns = w.map.w / w.window.w, rows = w.map.h / w.window.h;
    const AttentionAxes at = attention_inside(w.window, i);
    return {window / columns / rows * w.window.d + at.d, window / columns % rows * w.window.h + at.h,
            window % columns * w.window.w + at.w};
}

/* and its number on the map. */
DEVICE int attention_point(AttentionWindows w, int window, int i) {
    if (w.window.d == w.map.d && w.window.h == w.map.h && w.window.w == w.map.w && !attention_is_rolled(w))
        return i;
    const AttentionAxes at = attention_rolled(w, window, i);
    return ((at.d + w.shift.d) % w.map.d * w.map.h + (at.h + w.shift.h) % w.map.h) * w.map.w +
           (at.w + w.shift.w) % w.map.w;
}

/* The ends of the map meet within some windows: points on different sides do not see each other. */
DEVICE int attention_side(AttentionWindows w, int window, int i) {
    const AttentionAxes at = attention_rolled(w, window, i);
    return (at.d >= w.map.d - w.shift.d) + 2 * (at.h >= w.map.h - w.shift.h) +
           4 * (at.w >= w.map.w - w.shift.w);
}

DEVICE bool attention_sees(AttentionWindows w, int window, int query, int key) {
    return !attention_is_rolled(w) || attention_side(w, window, query) == attention_side(w, window, key);
}

/* The number of the point of a bias for a query and a key of a window. */
DEVICE int attention_bias_number(AttentionWindows windows, int query, int key) {
    if (windows.pairs > 0)
        return query * windows.pairs + key;
    const AttentionAxes window = windows.window;
    const AttentionAxes a = attention_inside(window, query), b = attention_inside(window, key);
    return ((a.d - b.d + window.d - 1) * (2 * window.h - 1) + a.h - b.h + window.h - 1) *
               (2 * window.w - 1) +
           a.w - b.w + window.w - 1;
}

/* The points of a bias: one for each pair of points of a window, or for each of their differences. */
[[maybe_unused]] static constexpr __host__ __device__ int attention_bias_points(AttentionAxes window,
                                                                                int pairs) {
    return pairs > 0 ? window.d * window.h * window.w * pairs
                     : (2 * window.d - 1) * (2 * window.h - 1) * (2 * window.w - 1);
}

/* The points of a window for a head in a tensor; `at` is the first number of the map. */
struct AttentionHead {
    const stored *at;
    int points, channels, block, window;
    AttentionWindows windows;
};

DEVICE AttentionHead attention_head(const stored *x, int block, AttentionPlace at, AttentionWindows w,
                                    int channels) {
    const long all = (long)w.map.d * w.map.h * w.map.w;
    return {x + at.n * all * block + at.g * channels,
            w.window.d * w.window.h * w.window.w,
            channels,
            block,
            at.window,
            w};
}

/* Beyond the points and the channels it is 0. */
DEVICE real attention_number(AttentionHead h, int point, int c) {
    return point < h.points && c < h.channels
               ? load(h.at, (long)attention_point(h.windows, h.window, point) * h.block + c)
               : 0;
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

DEVICE AttentionPlace attention_place(int points, int heads, int windows) {
    const int blocks = (points + ATTENTION_TILE - 1) / ATTENTION_TILE, window = blockIdx.x / blocks,
              head = window / windows;
    return {head / heads, head % heads, window % windows, (int)(blockIdx.x % blocks) * ATTENTION_TILE};
}

[[maybe_unused]] static constexpr unsigned attention_blocks(int samples, int points, int heads,
                                                            int windows) {
    return (unsigned)samples * heads * windows * ((points + ATTENTION_TILE - 1) / ATTENTION_TILE);
}
/* END */
