/* norm_statistics.cu - mean and variance of each of GROUPS groups of channels, of each sample, or, if
 * BATCH, over all.
 *
 * A band of the points of a sample has its own mean, about which its squares are summed (moments.cuh).  A
 * block joins the bands of a group. */
#include "moments.cuh"

#define KERNEL norm_statistics
#include "../example_cuda.h"

/* BEGIN */
/* Calls DO(points, mean, squares) for the bands of group g of a sample, or of all that count, a share of
 * them for each thread of the block. */
template <class Do>
DEVICE void KERNEL_each(const double *__restrict__ scratch, int set, int g, int samples, Do what) {
    SIZES;
    constexpr int of = C / GROUPS;
    for (int k = threadIdx.x; k < samples * BANDS * of; k += THREADS) {
        const int band = k / of % BANDS;
        const double *const from = scratch + ((long)set * BANDS + k / of) * 2 * X.block + g * of + k % of;
        what((double)(part_start(D * H * W, BANDS, band + 1) - part_start(D * H * W, BANDS, band)), from[0],
             from[X.block]);
    }
}

/* The mean and variance of a group: of one sample, or of all that count. */
static __global__ void KERNEL_groups(real *__restrict__ mean, real *__restrict__ variance,
                                     const double *__restrict__ scratch, const UnetControl *control) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    const int set = blockIdx.x / GROUPS, g = blockIdx.x % GROUPS,
              samples = BATCH ? samples_of(control, N) : 1;
    const double count = (double)samples * (C / GROUPS) * (D * H * W);
    double total = 0, squares = 0;
    KERNEL_each(scratch, set, g, samples,
                [&](double points, double of_band, double) { total += points * of_band; });
    const double centre = count > 0 ? block_total(part, total) / count : 0;
    KERNEL_each(scratch, set, g, samples, [&](double points, double of_band, double about) {
        squares += about + points * (of_band - centre) * (of_band - centre);
    });
    squares = block_total(part, squares);
    if (threadIdx.x > 0)
        return;
    mean[set * MEAN.sample + g] = (real)centre;
    variance[set * MEAN.sample + g] = (real)(count > 0 ? squares / count : 0);
}

LAUNCHER void KERNEL(UnetLaunch at, real *mean, real *variance, double *scratch, const stored *x) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= (long)N * BANDS * 2 * X.block, "two numbers a channel");
    constexpr int columns = X.block / LANES;
    constexpr auto moments = unet_band_moments<columns, BANDS>;
    LAUNCH_BLOCKS(at, moments, dim3(N * BANDS, sum_blocks<columns>()), scratch, x, D * H * W);
    LAUNCH_BLOCKS(at, KERNEL_groups, (BATCH ? 1 : N) * GROUPS, mean, variance, scratch, at.control);
}
/* END */
