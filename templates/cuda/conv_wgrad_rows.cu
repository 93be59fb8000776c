/* conv_wgrad_rows.cu - what a band of rows adds to the gradients of a convolution, or of a TRANSPOSED one,
 * by its weights and its bias; the first rows begin the sums. */
#include "rows.cuh"

#define KERNEL conv_wgrad_rows
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
/* The rows of dy whose points the bias sums with PART: a transposed convolution has some that no window
 * meets. */
static constexpr Rows KERNEL_rows_of_bias(Rows part) {
    SIZES;
    if (!TRANSPOSED)
        return part;
    return clipped(part.begin == 0 ? 0 : part.begin * SH - PH, part.end == IH ? H : part.end * SH - PH, H);
}

/* Unpacks the gradients that cuDNN left into dw: blocks for the filter of each segment.  Blocks behind them
 * sum the bias's gradient over the bands. */
template <int ADDS>
static __global__ void KERNEL_finish(real *dw, real *db, const real *__restrict__ scratch) {
    SIZES;
    constexpr int taps = KD * KH * KW, channels = TRANSPOSED ? CO : CI;
    int block = (int)blockIdx.x; /* counted from the first of a segment */
    if (block == 0 && threadIdx.x == 0) {
        zero_padding(dw + CO * CI * taps, slice_padding(CO * CI * taps));
        if (BIAS)
            zero_padding(db + CO, slice_padding(CO));
    }
#pragma unroll
    for (int s = 0; s < SEGMENTS; s++) {
        const int blocks = (int)filter_blocks(FILTER[s], taps);
        if (block >= 0 && block < blocks)
            unpack_weight<taps, ADDS>(dw, (const stored *)scratch, FILTER[s], channels,
                                      (unsigned)block * THREADS + threadIdx.x);
        block -= blocks;
    }
    if (BIAS && block >= 0)
        sum_bands(db, scratch + BANDS_AT, BANDS, DY.block, CO, block, ADDS);
}

static unsigned KERNEL_finish_blocks() {
    SIZES;
    unsigned blocks = BIAS ? channel_blocks(CO) : 0;
    for (int s = 0; s < SEGMENTS; s++)
        blocks += filter_blocks(FILTER[s], KD * KH * KW);
    return blocks;
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, real *dw, real *db, real *scratch, const stored *const *x,
                     const stored *dy) {
    SIZES;
    constexpr int columns = DY.block / LANES;
    constexpr Strip of_y = {H, DY.ring, W * columns};
    constexpr Grid points = {D, H, W, 1, DY.ring};
    constexpr Reading reading = {1, SH, PH, (KH - 1) * LH};
    char *memory = (char *)scratch;
    stored *dense = (stored *)(memory + DENSE_AT), *sampled = (stored *)(memory + SAMPLED_AT);
    for (int begin = rows.begin; begin < rows.end; begin += ROWS) {
        const Rows part = part_of(rows, begin, ROWS), met = rows_read(reading, part, TRANSPOSED ? H : IH);
        const int first = first_read(reading, begin);
        const auto finish = ACCUMULATE || begin > 0 ? KERNEL_finish<1> : KERNEL_finish<0>;
        const stored *y = TRANSPOSED ? window_of(at, dense, dy, N, of_y, first, DENSE, met)
                                     : window_of(at, sampled, dy, N, of_y, begin, SAMPLED, part);
        for (int s = 0; s < SEGMENTS; s++) {
            const Strip of_x = {IH, X[s].ring, (unsigned)IW * (X[s].block / LANES)};
            const stored *in = TRANSPOSED ? window_of(at, sampled, x[s], N, of_x, begin, SAMPLED, part)
                                          : window_of(at, dense, x[s], N, of_x, first, DENSE, met);
            unet_cuda_convolution(at, GRAPH[s], (stored *)scratch + FILTER[s].offset, TRANSPOSED ? y : in,
                                  TRANSPOSED ? in : y, NULL, memory + WORKSPACE_AT);
        }
        if (BIAS)
            LAUNCH_BLOCKS(at, unet_sum_points<columns>, (sum_grid<columns, BANDS>()), scratch + BANDS_AT,
                          dy, range_of(N, points, KERNEL_rows_of_bias(part)), points);
        LAUNCH_BLOCKS(at, finish, KERNEL_finish_blocks(), dw, db, scratch);
    }
}
/* END */
