/* confusion.cu - how often each pair of a true and a predicted class meets: counts[true][predicted]. */
#include "prologue.cuh"

#define KERNEL confusion
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_zero(double *counts) {
    SIZES;
    const unsigned i = thread_index();
    if (i < CLASSES * CLASSES)
        counts[i] = 0;
}

/* A thread takes points that follow each other, and adds equal ones at once: counts are whole
 * numbers, whose sum has no order.  Few classes are counted by each block for itself first, for all blocks
 * would wait for each other at the same few numbers. */
static __global__ void KERNEL_points(Range range, double *counts, const uint8_t *__restrict__ p,
                                     const uint8_t *__restrict__ t, const UnetControl *control) {
    SIZES;
    constexpr int pairs = CLASSES * CLASSES;
    constexpr bool few = pairs <= 4096;
    SHARED(uint32_t, counted, [few ? pairs : 1]);
    for (int i = threadIdx.x; few && i < pairs; i += THREADS)
        counted[i] = 0;
    __syncthreads();
    const auto add = [&](int pair, int run) {
        if (run == 0 || pair < 0)
            return;
        if (few)
            atomicAdd(&counted[pair], (uint32_t)run);
        else
            atomicAdd(counts + pair, (double)run);
    };
    const unsigned threads = gridDim.x * THREADS;
    const unsigned end = part_start(range.count, threads, thread_index() + 1);
    int pair = -1, run = 0;
    for (unsigned k = part_start(range.count, threads, thread_index()); k < end; k++) {
        const unsigned i = in_range(range, k);
        const int sample = i / range.sample, label = t[place({D, H, W, 1, T.ring}, i)];
        const bool counts_here =
            is_valid(control, sample) && label < CLASSES && label != IGNORE &&
            inside(valid_size(control, sample), point_at({D, H, W, 1}, i % range.sample));
        const int here = counts_here ? label * CLASSES + p[place({D, H, W, 1, P.ring}, i)] : -1;
        if (here != pair)
            add(pair, run);
        run = here == pair ? run + 1 : 1;
        pair = here;
    }
    add(pair, run);
    __syncthreads();
    for (int i = threadIdx.x; few && i < pairs; i += THREADS)
        if (counted[i] > 0)
            atomicAdd(counts + i, (double)counted[i]);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *counts, const uint8_t *p, const uint8_t *t) {
    SIZES;
    constexpr unsigned OF_THREAD = 32; /* points */
    const Range range = range_of(N, {D, H, W, 1}, rows);
    if (rows.begin == 0 && !ACCUMULATE)
        LAUNCH(at, KERNEL_zero, blocks_for(CLASSES * CLASSES), counts);
    if (range.count > 0)
        LAUNCH_BLOCKS(at, KERNEL_points, blocks_for((range.count + OF_THREAD - 1) / OF_THREAD), range,
                      counts, p, t, at.control);
}
/* END */
