/* similarity.cuh - what ssim and its gradient share: how alike two images are in a window. */
#include "prologue.cuh"

/* BEGIN */
/* ---- structural similarity ----------------------------------------------------------------------------
 */

/* Points of a window along an axis, and from the first to the last of them; and of the gradient that a
 * block computes. */
enum { WINDOW = 11, REACH = WINDOW - 1, TILE = 16 };

/* The weight of point k of a window: a Gaussian with a standard deviation of 1.5, whose sum is 1. */
DEVICE double gaussian(int k) {
    constexpr double weight[WINDOW] = {0.00102838008447911,  0.007598758135239185, 0.03600077212843083,
                                       0.10936068950970002,  0.2130055377112537,   0.26601172486179436,
                                       0.2130055377112537,   0.10936068950970002,  0.03600077212843083,
                                       0.007598758135239185, 0.00102838008447911};
    return weight[k];
}

/* Means over a window, or over a column of it: of p + t and p - t, and of the squares of these. With them
 * there are four to take, where p and t have five. */
struct Means {
    double sum, difference, sum_squared, difference_squared;
};

/* How the similarity of a window grows with a point of p there, divided by the weight of the point:
 * `of_means`, and so much times the point of p, and of t. */
struct WindowSlopes {
    double of_means, of_p, of_t;
};

/* The two similarities of a window, twice each: of brightness, and of variation. */
struct Likeness {
    double bright, over_bright, varies, over_varies;
};

/* Channel c of a point, see load_channels. */
template <int STAGED> DEVICE double load_channel(const void *p, int block, unsigned point, int c) {
    const long i = (long)point * block + c;
    return STAGED == 2   ? staged(static_cast<const uint8_t *>(p)[i])
           : STAGED == 1 ? staged(static_cast<const real *>(p)[i])
                         : load(static_cast<const stored *>(p), i);
}

/* Two images; channel c of sample n is compared. */
template <int P_STAGED, int T_STAGED> struct Pair {
    const void *p, *t;
    Compared by;
    int n, c;

    __device__ __forceinline__ double of_p(int h, int w) const {
        return load_channel<P_STAGED>(p, by.p_block, point_place(by, by.p_ring, point(h, w)), c);
    }
    __device__ __forceinline__ double of_t(int h, int w) const {
        return load_channel<T_STAGED>(t, by.t_block, point_place(by, by.t_ring, point(h, w)), c);
    }
    __device__ __forceinline__ unsigned point(int h, int w) const {
        return ((unsigned)n * by.points.h + h) * by.points.w + w;
    }
};

/* Over rows h.. of a column. */
template <class Images> DEVICE Means column_means(const Images &images, int h, int w) {
    Means mean = {0, 0, 0, 0};
    for (int k = 0; k < WINDOW; k++) {
        const double p = images.of_p(h + k, w), t = images.of_t(h + k, w), weight = gaussian(k);
        mean.sum += weight * (p + t);
        mean.difference += weight * (p - t);
        mean.sum_squared += weight * (p + t) * (p + t);
        mean.difference_squared += weight * (p - t) * (p - t);
    }
    return mean;
}

/* The means over a window, from the means of its columns. */
DEVICE Means window_means(const Means *column) {
    Means mean = {0, 0, 0, 0};
    for (int k = 0; k < WINDOW; k++) {
        mean.sum += gaussian(k) * column[k].sum;
        mean.difference += gaussian(k) * column[k].difference;
        mean.sum_squared += gaussian(k) * column[k].sum_squared;
        mean.difference_squared += gaussian(k) * column[k].difference_squared;
    }
    return mean;
}

DEVICE Likeness likeness(Means mean, double range) {
    const double bright = 2 * (0.01 * range) * (0.01 * range), varies = 2 * (0.03 * range) * (0.03 * range);
    const double sum = mean.sum * mean.sum, difference = mean.difference * mean.difference;
    const double of_sum = mean.sum_squared - sum, of_difference = mean.difference_squared - difference;
    return {sum - difference + bright, sum + difference + bright, of_sum - of_difference + varies,
            of_sum + of_difference + varies};
}

DEVICE WindowSlopes similarity_slopes(Means mean, double range) {
    const Likeness is = likeness(mean, range);
    const double each = 1 / (is.over_bright * is.over_varies), all = is.bright * is.varies * each;
    const double by_bright = is.varies * each, by_over_bright = -all / is.over_bright;
    const double by_varies = is.bright * each, by_over_varies = -all / is.over_varies;
    const double of_sum = by_over_bright - by_over_varies, of_product = by_bright - by_varies;
    return {2 * (mean.sum * (of_sum + of_product) + mean.difference * (of_sum - of_product)),
            4 * by_over_varies, 4 * by_varies};
}

/* For a block each: the sum of the similarities of the windows that end in a row, of those `wanted` of
 * every sample, as far as it is valid. */
template <int P_STAGED, int T_STAGED>
DEVICE void sum_windows(double *scratch, const void *p, const void *t, const UnetControl *control,
                        Compared by, double range, Rows wanted) {
    SHARED(Means, column, [THREADS]);
    const unsigned count = wanted.end - wanted.begin;
    const int sample = blockIdx.x / count, row = wanted.begin + blockIdx.x % count, lane = threadIdx.x;
    const int32_t *size = valid_size(control, sample);
    const int width = size[2] < by.points.w ? size[2] : by.points.w; /* no more than is compared */
    const bool there = row >= REACH && row < size[1];
    double total = 0;
    for (int c = 0; there && c < by.channels; c++)
        for (int first = 0; first + REACH < width; first += THREADS - REACH) {
            const Pair<P_STAGED, T_STAGED> images = {p, t, by, sample, c};
            __syncthreads();
            if (first + lane < width)
                column[lane] = column_means(images, row - REACH, first + lane);
            __syncthreads();
            if (lane < THREADS - REACH && first + lane + REACH < width) {
                const Likeness is = likeness(window_means(column + lane), range);
                total += is.bright * is.varies / (is.over_bright * is.over_varies);
            }
        }
    total = block_sum(total);
    if (lane == 0)
        scratch[(long)sample * by.points.h + row] = total;
}

/* Tiles of a gradient, of TILE rows of some and of TILE columns, for each channel that is stored. */
struct Tiles {
    unsigned rows, columns, channels;
};

[[maybe_unused]] static constexpr __host__ __device__ Tiles tiles_of(Rows rows, Grid g, int channels) {
    return {(unsigned)(rows.end - rows.begin + TILE - 1) / TILE, (unsigned)(g.w + TILE - 1) / TILE,
            (unsigned)channels};
}

/* The arrays that threads of a block share: means over columns, slopes of windows, and their sums along
 * rows. */
struct TileSums {
    Means column[TILE + REACH][TILE + 2 * REACH];
    WindowSlopes slope[TILE + REACH][TILE + REACH];
};

/* The slopes of the windows that have a point in a tile: the tile begins at row h and column w. */
template <class Images>
DEVICE void find_slopes(TileSums &tile, const Images &images, int h, int w, double range) {
    constexpr int HEIGHT = TILE + REACH, WIDTH = TILE + REACH, READ = WIDTH + REACH;
    const int last_row = images.by.points.h - WINDOW, last_column = images.by.points.w - WINDOW;
    for (int i = threadIdx.x; i < HEIGHT * READ; i += THREADS) {
        const int row = h - REACH + i / READ, column = w - REACH + i % READ;
        if (row >= 0 && row <= last_row && column >= 0 && column < images.by.points.w)
            tile.column[i / READ][i % READ] = column_means(images, row, column);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < HEIGHT * WIDTH; i += THREADS) {
        const int row = h - REACH + i / WIDTH, column = w - REACH + i % WIDTH;
        const bool there = row >= 0 && row <= last_row && column >= 0 && column <= last_column;
        tile.slope[i / WIDTH][i % WIDTH] =
            there ? similarity_slopes(window_means(&tile.column[i / WIDTH][i % WIDTH]), range)
                  : WindowSlopes{0, 0, 0};
    }
    __syncthreads();
}

/* For each point of a tile, a thread each: the sums over the windows in which it lies. The sums along rows
 * take the place of the means. */
DEVICE WindowSlopes sum_slopes(TileSums &tile) {
    for (int i = threadIdx.x; i < (TILE + REACH) * TILE; i += THREADS) {
        WindowSlopes sum = {0, 0, 0};
        for (int k = 0; k < WINDOW; k++) {
            const WindowSlopes &slope = tile.slope[i / TILE][i % TILE + k];
            sum.of_means += gaussian(k) * slope.of_means;
            sum.of_p += gaussian(k) * slope.of_p;
            sum.of_t += gaussian(k) * slope.of_t;
        }
        tile.column[i / TILE][i % TILE] = {sum.of_means, sum.of_p, sum.of_t, 0};
    }
    __syncthreads();
    WindowSlopes sum = {0, 0, 0};
    for (int k = 0; k < WINDOW; k++) {
        const Means &across = tile.column[threadIdx.x / TILE + k][threadIdx.x % TILE];
        sum.of_means += gaussian(k) * across.sum;
        sum.of_p += gaussian(k) * across.difference;
        sum.of_t += gaussian(k) * across.sum_squared;
    }
    return sum;
}

/* For a block each: a tile of a channel of the gradient by p, in the rows of every sample that are
 * `wanted`, of `weight` times the mean similarity, turned round; zero for samples that do not count. */
template <int P_STAGED, int T_STAGED>
DEVICE void store_similarity_slopes(stored *dp, int dp_block, const void *p, const void *t,
                                    const UnetControl *control, Compared by, double weight, double range,
                                    Rows wanted) {
    static_assert(THREADS == TILE * TILE, "a thread for each point");
    SHARED(TileSums, tile, );
    const Tiles tiles = tiles_of(wanted, by.points, dp_block);
    const unsigned of_rows = blockIdx.x / tiles.channels / tiles.columns;
    const int c = blockIdx.x % tiles.channels, sample = of_rows / tiles.rows;
    const int h = wanted.begin + of_rows % tiles.rows * TILE,
              w = blockIdx.x / tiles.channels % tiles.columns * TILE;
    const int row = h + threadIdx.x / TILE, column = w + threadIdx.x % TILE;
    const bool here = row < wanted.end && column < by.points.w;
    const Pair<P_STAGED, T_STAGED> images = {p, t, by, sample, c};
    double slope = 0;
    if (c < by.channels && is_valid(control, sample)) {
        const double windows = (double)by.channels * (by.points.h - REACH) * (by.points.w - REACH);
        find_slopes(tile, images, h, w, range);
        const WindowSlopes sum = sum_slopes(tile);
        if (here)
            slope =
                -weight / (control->n * windows) *
                (sum.of_means + sum.of_p * images.of_p(row, column) + sum.of_t * images.of_t(row, column));
    }
    if (here)
        store(dp, (long)point_place(by, by.points.ring, images.point(row, column)) * dp_block + c,
              (real)slope);
}
/* END */
