/* filters.cuh - filters of many layers in one launch: dense weights packed for cuDNN, and images of the
 * loader cast, or gradients of cuDNN unpacked.
 *
 * A layer's filters are little work, and there are many layers. So a step hands in jobs, as many as it has
 * segments, and one for its bias, and the last of the steps that the plan brought together launches all of
 * them: blocks [first, first of the next one) work on a job. No job reads what another one writes. */
#include "prologue.cuh"

/* BEGIN */
/* ---- filters of many layers in one launch ----------------------------------------------------------- */

/* The job of this block. */
DEVICE const UnetFilterJob &job_of_block(const UnetFilterJobs &jobs) {
    unsigned low = 0, high = jobs.count;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (jobs.job[middle].first <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    return jobs.job[low];
}

/* The number of the thread in its job. */
DEVICE unsigned thread_of_job(const UnetFilterJob &job) {
    return (blockIdx.x - job.first) * THREADS + threadIdx.x;
}

[[maybe_unused]] static UnetFilterJob filter_job(void *to, const void *from, Filter f, int channels,
                                                 int taps, int adds) {
    return {to, from, 0, f.k0, f.kn, f.kp, f.c0, f.cn, f.cp, channels, taps, adds};
}

/* One job more, of so many blocks; LAUNCH_ALL makes room where there is none. */
template <class LaunchAll>
static void add_job(UnetFilterJobs *jobs, UnetFilterJob job, unsigned blocks, LaunchAll launch_all) {
    if (jobs->count == UNET_FILTER_JOBS)
        launch_all();
    job.first = jobs->blocks;
    jobs->blocks += blocks;
    jobs->job[jobs->count++] = job;
}

/* A warp takes WARP channels of a filter, which are neighbours in the dense weights with all their taps,
 * and so many taps at a time.  They go through shared memory, so that both sides are read and written
 * along. */
enum { WARPS = THREADS / WARP, TILE_TAPS = 27 };

/* Filters and groups of channels of a job, counted: this warp's. */
struct FilterTile {
    int k, c, channels; /* the filter, its first channel, and how many dense weights has */
};

DEVICE FilterTile tile_of_warp(const UnetFilterJob &job, int channels) {
    const unsigned groups = ((unsigned)channels + WARP - 1) / WARP,
                   tile = (blockIdx.x - job.first) * WARPS + threadIdx.x / WARP;
    const int k = (int)(tile / groups), c = (int)(tile % groups) * WARP, left = job.cn - c;
    return {k, c, k >= job.kn || left < 0 ? 0 : left < WARP ? left : (int)WARP};
}

/* The dense weights of a tile; tap `first` is the first. */
DEVICE long tile_start(const UnetFilterJob &job, FilterTile tile, int first) {
    return ((long)(job.k0 + tile.k) * job.channels + job.c0 + tile.c) * job.taps + first;
}

/* The place of weight i of a tile along the dense weights, if it has so many taps of each channel. */
DEVICE long tile_weight(const UnetFilterJob &job, int taps, int i) {
    return taps == job.taps ? i : (long)(i / taps) * job.taps + i % taps;
}

/* For a block: filters of cuDNN, padded with zeros, from dense weights. */
DEVICE void pack_job(const UnetFilterJob &job) {
    SHARED(real, weights, [WARPS][WARP * TILE_TAPS]);
    const FilterTile tile = tile_of_warp(job, job.cp);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int first = 0; first < job.taps; first += TILE_TAPS) {
        const int taps = job.taps - first < TILE_TAPS ? job.taps - first : (int)TILE_TAPS;
        const real *from = static_cast<const real *>(job.from) + tile_start(job, tile, first);
        __syncthreads();
        for (int i = lane; i < tile.channels * taps; i += WARP)
            weights[warp][i] = from[tile_weight(job, taps, i)];
        __syncthreads();
        if (tile.k < job.kp && tile.c + lane < job.cp)
            for (int tap = 0; tap < taps; tap++)
                store(static_cast<stored *>(job.to),
                      ((long)tile.k * job.taps + first + tap) * job.cp + tile.c + lane,
                      lane < tile.channels ? weights[warp][lane * taps + tap] : 0);
    }
}

/* A vector of an image (taps 0) that the loader left as k0 says: cp stored channels of kn points, where it
 * has cn of kp. */
DEVICE void cast_job(const UnetFilterJob &job, unsigned i) {
    const unsigned columns = (unsigned)job.cp / LANES, point = i / columns;
    const int column = (int)(i % columns);
    if (i < job.kn * columns)
        store_vector(static_cast<stored *>(job.to), i,
                     job.k0 == 2 ? load_channels<2>(job.from, job.kp, job.cn, point, column)
                                 : load_channels<1>(job.from, job.kp, job.cn, point, column));
}

static __global__ void unet_pack_filters(UnetFilterJobs jobs) {
    const UnetFilterJob &job = job_of_block(jobs);
    if (job.taps > 0)
        pack_job(job);
    else
        cast_job(job, thread_of_job(job));
}

[[maybe_unused]] static void launch_packing(UnetLaunch at) {
    LAUNCH_BLOCKS(at, unet_pack_filters, at.jobs->blocks, *at.jobs);
    at.jobs->count = at.jobs->blocks = 0;
}

/* Blocks for so many filters of so many channels. */
[[maybe_unused]] static constexpr unsigned tile_blocks(int filters, int channels) {
    return ((unsigned)filters * (((unsigned)channels + WARP - 1) / WARP) + WARPS - 1) / WARPS;
}

/* For a block: filters of cuDNN to their places in dense weights; behind the last one kp zeros. */
DEVICE void unpack_job(const UnetFilterJob &job) {
    SHARED(real, weights, [WARPS][WARP * TILE_TAPS]);
    const FilterTile tile = tile_of_warp(job, job.cn);
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    for (int first = 0; first < job.taps; first += TILE_TAPS) {
        const int taps = job.taps - first < TILE_TAPS ? job.taps - first : (int)TILE_TAPS;
        real *to = static_cast<real *>(job.to) + tile_start(job, tile, first);
        __syncthreads();
        if (lane < tile.channels)
            for (int tap = 0; tap < taps; tap++)
                weights[warp][lane * taps + tap] =
                    load(static_cast<const stored *>(job.from),
                         ((long)tile.k * job.taps + first + tap) * job.cp + tile.c + lane);
        __syncthreads();
        for (int i = lane; i < tile.channels * taps; i += WARP) {
            real *const at = to + tile_weight(job, taps, i);
            *at = job.adds ? *at + weights[warp][i] : weights[warp][i];
        }
    }
    if (tile.k == job.kn - 1 && tile.c + tile.channels == job.cn && lane == 0)
        zero_padding(static_cast<real *>(job.to) + tile_start(job, tile, 0) +
                         (long)tile.channels * job.taps,
                     job.kp);
}

/* Unpacks gradients of filters, and sums gradients of biases (taps 0) over kn bands of cp stored channels;
 * behind them kp zeros. */
static __global__ void unet_unpack_filters(UnetFilterJobs jobs) {
    const UnetFilterJob &job = job_of_block(jobs);
    if (job.taps > 0) {
        unpack_job(job);
        return;
    }
    real *const to = static_cast<real *>(job.to);
    sum_bands(to, static_cast<const real *>(job.from), job.kn, job.cp, job.cn,
              (int)(blockIdx.x - job.first), job.adds);
    if (thread_of_job(job) == 0)
        zero_padding(to + job.cn, job.kp);
}
/* END */
