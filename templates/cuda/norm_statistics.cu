/* norm_statistics.cu - mean and variance of each of GROUPS groups of channels, of each sample, or, if
 * BATCH, over all.
 *
 * A band of the points of a sample has its own mean, about which its squares are summed; means and squares
 * are then joined, band by band, sample by sample. */
#include "prologue.cuh"

#define KERNEL norm_statistics
#include "../example_cuda.h"

/* BEGIN */
/* The sum of a band, then of the squares of what its points differ from the mean. */
struct KERNEL_Sums {
    static constexpr bool slopes = false;
    DEVICE Vector centre(const real *, unsigned, int, Vector total, unsigned count) {
        return divided(total, (real)count);
    }
    DEVICE real of(int k, real x, real, real centre) { return k == 0 ? x : (x - centre) * (x - centre); }
};

/* Those of a group: of one sample, or of all that count. */
static __global__ void KERNEL_groups(real *__restrict__ mean, real *__restrict__ variance,
                                     const double *__restrict__ scratch, const UnetControl *control) {
    SIZES;
    const int s = thread_index(), set = s / GROUPS, g = s % GROUPS, of = C / GROUPS;
    double count = 0, centre = 0, squares = 0;
    if (s >= (BATCH ? 1 : N) * GROUPS)
        return;
    for (int c = g * of; c < (g + 1) * of; c++)
        for (int i = set; i < (BATCH ? N : set + 1); i++)
            for (int band = 0; band < BANDS && (!BATCH || is_valid(control, i)); band++) {
                const double *from = scratch + ((long)i * BANDS + band) * 2 * X.block + c;
                const double points =
                    part_start(D * H * W, BANDS, band + 1) - part_start(D * H * W, BANDS, band);
                const double all = count + points, apart = from[0] / points - centre;
                centre += apart * (points / all);
                squares += from[X.block] + apart * apart * (count * points / all);
                count = all;
            }
    mean[set * MEAN.sample + g] = (real)centre;
    variance[set * MEAN.sample + g] = (real)(count > 0 ? squares / count : 0);
}

LAUNCHER void KERNEL(UnetLaunch at, real *mean, real *variance, double *scratch, const stored *x) {
    SIZES;
    constexpr int columns = X.block / LANES;
    constexpr auto sums = unet_sum_twice<columns, BANDS, KERNEL_Sums>;
    LAUNCH_BLOCKS(at, sums, dim3(N * BANDS, sum_blocks<columns>()), scratch, x, x, NULL, D * H * W);
    LAUNCH(at, KERNEL_groups, blocks_for((BATCH ? 1 : N) * GROUPS), mean, variance, scratch, at.control);
}
/* END */
