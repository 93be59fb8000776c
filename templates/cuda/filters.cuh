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

/* The thread among those of its job. */
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

/* All taps of a vector of channels of a filter, which come from neighbouring weights: padding is zero. */
DEVICE void pack_job(const UnetFilterJob &job, unsigned i) {
    const unsigned columns = (unsigned)job.cp / LANES;
    if (i >= job.kp * columns)
        return;
    const int k = (int)(i / columns), c = (int)(i % columns) * LANES;
    const real *from =
        static_cast<const real *>(job.from) + ((long)(job.k0 + k) * job.channels + job.c0 + c) * job.taps;
    for (int tap = 0; tap < job.taps; tap++) {
        Vector v;
        for (int l = 0; l < LANES; l++)
            v.lane[l] = k < job.kn && c + l < job.cn ? from[l * job.taps + tap] : 0;
        store_vector(static_cast<stored *>(job.to), ((unsigned)k * job.taps + tap) * columns + c / LANES,
                     v);
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
        pack_job(job, thread_of_job(job));
    else
        cast_job(job, thread_of_job(job));
}

[[maybe_unused]] static void launch_packing(UnetLaunch at) {
    LAUNCH(at, unet_pack_filters, at.jobs->blocks, *at.jobs);
    at.jobs->count = at.jobs->blocks = 0;
}

/* Blocks that pack a filter, a thread for each vector of its channels. */
[[maybe_unused]] static unsigned pack_blocks(Filter f) {
    return blocks_for(f.kp * (f.cp / LANES));
}

/* Numbers that pad a slice of `count` to a whole vector. */
[[maybe_unused]] static constexpr int slice_padding(int count) {
    return (4 - count % 4) % 4;
}

DEVICE void zero_padding(real *from, int count) {
    for (int i = 0; i < count; i++)
        from[i] = 0;
}

/* Weight i of a filter of cuDNN to its place in dense weights; with the last one kp zeros behind it. */
DEVICE void unpack_job(const UnetFilterJob &job, unsigned i) {
    const unsigned row = (unsigned)job.cn * job.taps;
    if (i >= job.kn * row)
        return;
    const int k = (int)(i / row), c = (int)(i % row / job.taps), tap = (int)(i % job.taps);
    real *to =
        static_cast<real *>(job.to) + ((long)(job.k0 + k) * job.channels + job.c0 + c) * job.taps + tap;
    const real x = load(static_cast<const stored *>(job.from), ((long)k * job.taps + tap) * job.cp + c);
    *to = job.adds ? *to + x : x;
    if (i == job.kn * row - 1)
        zero_padding(to + 1, job.kp);
}

/* Gradients of filters unpacked, and those of biases (taps 0) summed over kn bands of cp stored channels;
 * behind them kp zeros. */
static __global__ void unet_unpack_filters(UnetFilterJobs jobs) {
    const UnetFilterJob &job = job_of_block(jobs);
    if (job.taps > 0) {
        unpack_job(job, thread_of_job(job));
        return;
    }
    real *const to = static_cast<real *>(job.to);
    sum_bands(to, static_cast<const real *>(job.from), job.kn, job.cp, job.cn,
              (int)(blockIdx.x - job.first), job.adds);
    if (thread_of_job(job) == 0)
        zero_padding(to + job.cn, job.kp);
}
/* END */
