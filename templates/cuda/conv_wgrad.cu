/* conv_wgrad.cu - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias. */
#include "prologue.cuh"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
/* What cuDNN left, unpacked into dw: blocks for the filter of each segment. Blocks behind them sum the
 * bias's gradient over the bands. */
static __global__ void KERNEL_finish(real *dw, real *db, const real *scratch, const real *sums) {
    SIZES;
    constexpr int taps = KD * KH * KW, channels = TRANSPOSED ? CO : CI;
    int block = (int)blockIdx.x; /* counted from the first of a segment */
#pragma unroll
    for (int s = 0; s < SEGMENTS; s++) {
        const int blocks = (int)filter_blocks(FILTER[s], taps);
        if (block >= 0 && block < blocks)
            unpack_weight<taps, ACCUMULATE>(dw, (const stored *)scratch, FILTER[s], channels,
                                            (unsigned)block * THREADS + threadIdx.x);
        block -= blocks;
    }
    if (BIAS && block >= 0)
        sum_bands<BANDS, ACCUMULATE>(db, sums, DY.block, CO, block);
}

static unsigned KERNEL_finish_blocks() {
    SIZES;
    unsigned blocks = BIAS ? channel_blocks(CO) : 0;
    for (int s = 0; s < SEGMENTS; s++)
        blocks += filter_blocks(FILTER[s], KD * KH * KW);
    return blocks;
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, real *scratch, const stored *const *x,
                     const stored *dy, const real *summed) {
    SIZES;
    constexpr int columns = DY.block / LANES;
    constexpr Grid points = {D, H, W, 1, 0};
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], (stored *)scratch + FILTER[s].offset, TRANSPOSED ? dy : x[s],
                              TRANSPOSED ? x[s] : dy, NULL, (char *)scratch + WORKSPACE_AT);
    if (BIAS && !SUMMED)
        LAUNCH_BLOCKS(at, unet_sum_points<columns>, (sum_grid<columns, BANDS>()), scratch + BANDS_AT, dy,
                      range_of(N, points, {0, D * H}), points);
    LAUNCH_BLOCKS(at, KERNEL_finish, KERNEL_finish_blocks(), dw, db, scratch,
                  SUMMED ? summed : scratch + BANDS_AT);
}
/* END */
