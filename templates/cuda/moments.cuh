/* moments.cuh - sums over the points of each channel, and what normalisations make of them.
 *
 * The points of a sample are split into bands, and a block takes a band and up to WARP columns of vectors.
 * Its threads go through the points once.  Then blocks join the bands, each for one number of the result.
 */
#include "prologue.cuh"

/* BEGIN */
/* ---- sums over bands of points, for normalisations --------------------------------------------------- */

/* The numbers that each lane saw: their mean, and the sum of the squares of their differences from it. */
struct Moments {
    Vector mean, squares;
};

/* Joins the moments of MORE numbers, at least one, with the moments of `count`. */
DEVICE void join(Moments *to, real count, const Moments &from, real more) {
    const real share = more / (count + more);
#pragma unroll
    for (int l = 0; l < LANES; l++) {
        const real apart = from.mean.lane[l] - to->mean.lane[l];
        to->mean.lane[l] += apart * share;
        to->squares.lane[l] += from.squares.lane[l] + apart * apart * (count * share);
    }
}

enum { AT_ONCE = 4 }; /* vectors that a thread reads before it uses the first */

/* The moments of the vectors x[p], x[p + step], ... up to AT_ONCE of them; P is below END. */
template <int COLUMNS>
DEVICE Moments moments_of(const stored *__restrict__ x, int column, unsigned p, unsigned step, int count) {
    Vector v[AT_ONCE];
    Moments m = {filled(0), filled(0)};
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        v[k] = load_vector(x, (k < count ? p + k * step : p) * COLUMNS + column);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        if (k < count)
            m.mean = sum(m.mean, v[k]);
    m.mean = times(1 / (real)count, m.mean);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++)
        if (k < count)
            for (int l = 0; l < LANES; l++)
                m.squares.lane[l] += (v[k].lane[l] - m.mean.lane[l]) * (v[k].lane[l] - m.mean.lane[l]);
    return m;
}

/* The work of a block: band `blockIdx.x`, counted through the samples, of the points [begin, end); the
 * threads of a row have different columns, and take every sum_height-th point. */
struct Band {
    int row, lane, column;
    bool busy;
    unsigned sample, begin, end;
};

template <int COLUMNS, int BANDS> DEVICE Band band_of_block(unsigned points) {
    constexpr int WIDTH = sum_width<COLUMNS>();
    Band b;
    b.row = threadIdx.x / WIDTH;
    b.lane = threadIdx.x % WIDTH;
    b.column = blockIdx.y * WIDTH + b.lane;
    b.busy = b.row < sum_height<COLUMNS>() && b.column < COLUMNS;
    b.sample = blockIdx.x / BANDS;
    const unsigned band = blockIdx.x % BANDS, start = b.sample * points;
    b.begin = start + part_start(points, BANDS, band);
    b.end = start + part_start(points, BANDS, band + 1);
    return b;
}

/* A band's NUMBERS for each channel lie at scratch[blockIdx.x][NUMBERS][COLUMNS * LANES]. */
template <int COLUMNS, int NUMBERS>
DEVICE void store_numbers(double *scratch, int column, const Vector (&number)[NUMBERS]) {
    double *const to = scratch + (long)blockIdx.x * NUMBERS * COLUMNS * LANES + column * LANES;
    for (int k = 0; k < NUMBERS; k++)
        for (int l = 0; l < LANES; l++)
            to[k * COLUMNS * LANES + l] = (double)number[k].lane[l];
}

/* The mean of each channel over a band, and the sum of the squares of the differences from it. */
template <int COLUMNS, int BANDS>
static __global__ void unet_band_moments(double *scratch, const stored *__restrict__ x, unsigned points) {
    constexpr int WIDTH = sum_width<COLUMNS>(), HEIGHT = sum_height<COLUMNS>();
    SHARED(Moments, part, [HEIGHT][WIDTH]);
    SHARED(real, counted, [HEIGHT]);
    const Band b = band_of_block<COLUMNS, BANDS>(points);
    Moments total = {filled(0), filled(0)};
    real count = 0;
    if (b.busy) {
        for (unsigned p = b.begin + b.row; p < b.end; p += AT_ONCE * HEIGHT) {
            const unsigned left = (b.end - p + HEIGHT - 1) / HEIGHT;
            const int here = left < AT_ONCE ? (int)left : (int)AT_ONCE;
            join(&total, count, moments_of<COLUMNS>(x, b.column, p, HEIGHT, here), (real)here);
            count += (real)here;
        }
        part[b.row][b.lane] = total;
        counted[b.row] = count;
    }
    for (int below = upper_half(HEIGHT); below > 0; below /= 2) {
        __syncthreads();
        if (!b.busy || b.row >= below || b.row + below >= HEIGHT)
            continue;
        const real more = counted[b.row + below];
        if (more > 0) {
            join(&total, count, part[b.row + below][b.lane], more);
            count += more;
            part[b.row][b.lane] = total;
        }
        if (below > 1)
            counted[b.row] = count; /* the same from each lane */
    }
    if (b.busy && b.row == 0)
        store_numbers<COLUMNS, 2>(scratch, b.column, {total.mean, total.squares});
}

/* The numbers of a normalisation for each channel or group, as far as they are there. */
struct NormOperands {
    const real *mean, *variance, *w, *b, *slopes;
};

/* A point adds one number to each of COUNT sums of a channel. */
template <int COUNT> struct PointTerms {
    enum { NUMBERS = COUNT };
    real number[COUNT];
};

/* The sums of a channel over a band.  Terms::known(operands, sample, column) is of type Terms::Known and
 * the same for all points; terms(known, lane, dy, x) has what a point adds, a PointTerms. */
template <int COLUMNS, int BANDS, class Terms>
static __global__ void unet_band_slopes(double *scratch, const stored *__restrict__ x,
                                        const stored *__restrict__ dy, NormOperands operands,
                                        unsigned points) {
    constexpr int WIDTH = sum_width<COLUMNS>(), HEIGHT = sum_height<COLUMNS>(),
                  NUMBERS = Terms::Sums::NUMBERS;
    SHARED(Vector, part, [NUMBERS][HEIGHT][WIDTH]);
    const Band b = band_of_block<COLUMNS, BANDS>(points);
    Vector total[NUMBERS];
    for (int k = 0; k < NUMBERS; k++)
        total[k] = filled(0);
    if (b.busy) {
        const typename Terms::Known known = Terms::known(operands, b.sample, b.column);
#pragma unroll 4
        for (unsigned p = b.begin + b.row; p < b.end; p += HEIGHT) {
            const Vector a = load_vector(x, p * COLUMNS + b.column),
                         slope = load_vector(dy, p * COLUMNS + b.column);
            for (int l = 0; l < LANES; l++) {
                const typename Terms::Sums terms = Terms::terms(known, l, slope.lane[l], a.lane[l]);
                for (int k = 0; k < NUMBERS; k++)
                    total[k].lane[l] += terms.number[k];
            }
        }
        for (int k = 0; k < NUMBERS; k++)
            part[k][b.row][b.lane] = total[k];
    }
    for (int below = upper_half(HEIGHT); below > 0; below /= 2) {
        __syncthreads();
        if (b.busy && b.row < below && b.row + below < HEIGHT)
            for (int k = 0; k < NUMBERS; k++)
                part[k][b.row][b.lane] = sum(part[k][b.row][b.lane], part[k][b.row + below][b.lane]);
    }
    if (!b.busy || b.row > 0)
        return;
    for (int k = 0; k < NUMBERS; k++)
        total[k] = part[k][0][b.lane];
    store_numbers<COLUMNS>(scratch, b.column, total);
}

/* dy and dy x themselves; BELOW_ZERO: the latter where x is not positive. */
template <int BELOW_ZERO> struct Products {
    struct Known {};
    using Sums = PointTerms<2>;
    DEVICE Known known(NormOperands, unsigned, int) { return {}; }
    DEVICE Sums terms(Known, int, real dy, real x) { return {{dy, BELOW_ZERO && x > 0 ? 0 : dy * x}}; }
};

/* The sum of x over the threads of a block, for each of them; PART is shared, a number for each warp. */
template <class Part> DEVICE double block_total(Part &part, double x) {
    for (int distance = WARP / 2; distance > 0; distance /= 2)
        x += __shfl_down_sync(~0u, x, distance);
    __syncthreads(); /* the numbers of the last call were read */
    if (threadIdx.x % WARP == 0)
        part[threadIdx.x / WARP] = x;
    __syncthreads();
    double total = 0;
    for (int w = 0; w < THREADS / WARP; w++)
        total += part[w];
    return total;
}

/* The threads that add up so many numbers: a warp for a few. */
[[maybe_unused]] static constexpr __host__ __device__ int team_for(int count) {
    return count <= 4 * WARP ? (int)WARP : (int)THREADS;
}

/* The team of this thread in the grid. */
template <int TEAM> DEVICE int team_index() {
    return (int)(blockIdx.x * (THREADS / TEAM) + threadIdx.x / TEAM);
}

/* The sum of COUNT numbers that are STEP apart, for the first thread of a team at least; all threads of a
 * block call this.  PART is shared, a number for each warp. */
template <int TEAM, class Part>
DEVICE double team_sum(Part &part, const double *from, long step, int count) {
    double total = 0;
#pragma unroll 4
    for (int k = threadIdx.x % TEAM; k < count; k += TEAM)
        total += from[k * step];
    if constexpr (TEAM == THREADS) {
        total = block_total(part, total);
    } else {
        for (int distance = WARP / 2; distance > 0; distance /= 2)
            total += __shfl_down_sync(~0u, total, distance);
    }
    return total;
}

/* ---- vectors that are normalised --------------------------------------------------------------------- */

/* A thread takes this many, of the same channels if a block has room for whole points, and works out once
 * the numbers that they share. */
enum { NORM_VECTORS = 8 };

template <int COLUMNS> static constexpr __host__ __device__ unsigned norm_threads() {
    return COLUMNS <= THREADS ? THREADS / COLUMNS * COLUMNS : THREADS;
}

/* Calls DO(i, sample, column, is_new) for the vectors i of this thread; is_new: SAMPLE, if `by_sample`, or
 * COLUMN is not the one of the call before. */
template <int COLUMNS, class Do> DEVICE void each_normalised(Range range, bool by_sample, Do what) {
    constexpr unsigned threads = norm_threads<COLUMNS>();
    unsigned known = ~0u;
    if (threadIdx.x >= threads)
        return;
    for (int k = 0; k < NORM_VECTORS; k++) {
        const unsigned counted = (blockIdx.x * NORM_VECTORS + k) * threads + threadIdx.x;
        if (counted >= range.count)
            return;
        const unsigned i = in_range(range, counted), sample = i / range.sample, column = i % COLUMNS,
                       key = sample * (by_sample ? COLUMNS : 0) + column;
        what(i, sample, (int)column, key != known);
        known = key;
    }
}

#define LAUNCH_NORMALISED(at, kernel, columns, range, ...)                                                 \
    do {                                                                                                   \
        const Range launched = range;                                                                      \
        constexpr unsigned of_block = norm_threads<columns>() * NORM_VECTORS;                              \
        if (launched.count > 0)                                                                            \
            LAUNCH(at, kernel, (launched.count - 1) / of_block + 1, launched, __VA_ARGS__);                \
    } while (0)

/* ---- running averages ------------------------------------------------------------------------------- */

/* A row of blocks for each track, and a thread for each channel. */
static __global__ void unet_track(UnetTracks all, const UnetControl *control) {
    const UnetTrack &of = all.of[blockIdx.y];
    const int c = thread_index(), left = of.sync ? control->n : control->n - control->start,
              samples = of.sync || left < of.samples ? left : of.samples;
    const double count = samples * of.points, larger = count > 1 ? count / (count - 1) : 1;
    if (c >= of.channels || left <= 0 || (!of.sync && of.group > 0 && control->start >= of.group))
        return;
    of.running_mean[c] = (real)((1 - of.momentum) * of.running_mean[c] + of.momentum * of.mean[c]);
    of.running_var[c] =
        (real)((1 - of.momentum) * of.running_var[c] + of.momentum * larger * of.variance[c]);
}

[[maybe_unused]] static void add_track(UnetTracks *all, UnetTrack track) {
    if (all->most < (uint32_t)track.channels)
        all->most = (uint32_t)track.channels;
    all->of[all->count++] = track;
}

[[maybe_unused]] static void launch_tracks(UnetLaunch at) {
    LAUNCH(at, unet_track, dim3(blocks_for(at.tracks->most), at.tracks->count), *at.tracks, at.control);
    at.tracks->count = at.tracks->most = 0;
}
/* END */
