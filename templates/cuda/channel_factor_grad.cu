/* channel_factor_grad.cu - gradient by numbers for each channel that a was multiplied with: sums over the
 * points of a sample, by bands (moments.cuh), which a warp, or a block, adds up. */
#include "moments.cuh"

#define KERNEL channel_factor_grad
#include "../example_cuda.h"

/* BEGIN */
static constexpr __host__ __device__ int KERNEL_team() {
    SIZES;
    return team_for(BANDS);
}

static __global__ void KERNEL_channels(stored *__restrict__ db, const double *__restrict__ scratch) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    const int team = team_index<KERNEL_team()>(), sample = team / DB.block, c = team % DB.block;
    const double *const products = scratch + ((long)sample * BANDS * 2 + 1) * DB.block + c;
    const double total = team_sum<KERNEL_team()>(part, products, 2 * DB.block, sample < N ? BANDS : 0);
    if (threadIdx.x % KERNEL_team() == 0 && sample < N)
        store(db, team, (real)total);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *db, double *scratch, const stored *dy, const stored *a) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= (long)N * BANDS * 2 * DB.block, "two numbers a channel");
    constexpr int columns = DB.block / LANES;
    constexpr auto sums = unet_band_slopes<columns, BANDS, Products<0>>;
    LAUNCH_BLOCKS(at, sums, dim3(N * BANDS, sum_blocks<columns>()), scratch, a, dy, NormOperands{},
                  D * H * W);
    LAUNCH_BLOCKS(at, KERNEL_channels, blocks_for(N * DB.block * KERNEL_team()), db, scratch);
}
/* END */
