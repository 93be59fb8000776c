/* scale_wgrad.cu - gradients of a factor and a bias for each channel, or, if SHARED, of one factor for all;
 * BELOW_ZERO: of factors where x is not positive.
 *
 * Bands of points are summed first (moments.cuh), and then a warp, or a block, adds up those of a number.
 */
#include "moments.cuh"

#define KERNEL scale_wgrad
#include "../example_cuda.h"

/* BEGIN */
enum { KERNEL_SLOPES, KERNEL_PRODUCTS, KERNEL_NUMBERS };

static constexpr __host__ __device__ int KERNEL_team() {
    SIZES;
    return SHARED ? (int)THREADS : team_for(N * BANDS);
}

/* The gradient of the factor, or of the bias, of a channel. */
static __global__ void KERNEL_channels(real *dw, real *db, const double *scratch) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    const int team = team_index<KERNEL_team()>(), which = team / C, c = team % C;
    const double total =
        team_sum<KERNEL_team()>(part, scratch + (long)which * X.block + c, KERNEL_NUMBERS * X.block,
                                which < KERNEL_NUMBERS ? N * BANDS : 0);
    real *const to = which == KERNEL_PRODUCTS ? dw : db;
    if (threadIdx.x % KERNEL_team() == 0 && which < KERNEL_NUMBERS && to != NULL)
        to[c] = (ACCUMULATE ? to[c] : 0) + (real)total;
}

/* That of the one factor: the products of all channels. */
static __global__ void KERNEL_all(real *dw, const double *scratch) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    double total = 0;
    for (int k = threadIdx.x; k < N * BANDS * C; k += THREADS)
        total += scratch[((long)(k / C) * KERNEL_NUMBERS + KERNEL_PRODUCTS) * X.block + k % C];
    total = block_total(part, total);
    if (threadIdx.x == 0)
        dw[0] = (ACCUMULATE ? dw[0] : 0) + (real)total;
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, double *scratch, const stored *x,
                     const stored *dy) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= (long)N * BANDS * 2 * X.block, "two numbers a channel");
    constexpr int columns = X.block / LANES;
    constexpr auto sums = unet_band_slopes<columns, BANDS, Products<BELOW_ZERO>>;
    LAUNCH_BLOCKS(at, sums, dim3(N * BANDS, sum_blocks<columns>()), scratch, x, dy, NormOperands{},
                  D * H * W);
    if (SHARED)
        LAUNCH_BLOCKS(at, KERNEL_all, 1, dw, scratch);
    else
        LAUNCH_BLOCKS(at, KERNEL_channels, blocks_for(KERNEL_NUMBERS * C * KERNEL_team()), dw, db, scratch);
}
/* END */
