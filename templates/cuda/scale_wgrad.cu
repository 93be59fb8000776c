/* scale_wgrad.cu - gradients of a factor and a bias for each channel, or, if SHARED, of one factor for all;
 * BELOW_ZERO: of factors where x is not positive.  Either may be absent.
 *
 * Bands of points are summed first (moments.cuh), and then a warp, or a block, adds up the bands of a
 * number. */
#include "moments.cuh"

#define KERNEL scale_wgrad
#include "../example_cuda.h"

/* BEGIN */
enum { KERNEL_SLOPES, KERNEL_PRODUCTS, KERNEL_NUMBERS };

static constexpr __host__ __device__ int KERNEL_team() {
    SIZES;
    return team_for(N * BANDS);
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
    if (threadIdx.x % KERNEL_team() == 0 && which < KERNEL_NUMBERS && to != NULL && c == 0)
        zero_padding(to + C, slice_padding(C));
}

/* The gradient of the one factor.  A block sums over a band of a sample's vectors, whose channels lie side
 * by side, and the last block to come adds up the bands. */
static __global__ void KERNEL_shared(real *dw, double *scratch, const stored *__restrict__ x,
                                     const stored *__restrict__ dy, uint32_t *arrived) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    constexpr unsigned count = (unsigned)(D * H * W) * (X.block / LANES);
    const unsigned start = blockIdx.x / BANDS * count, band = blockIdx.x % BANDS,
                   last = start + part_start(count, BANDS, band + 1);
    double total = 0;
#pragma unroll 4
    for (unsigned i = start + part_start(count, BANDS, band) + threadIdx.x; i < last; i += THREADS) {
        const Vector a = load_vector(x, i), slope = load_vector(dy, i);
        real of_vector = 0;
        for (int l = 0; l < LANES; l++)
            if (C % LANES == 0 || (int)(i % (X.block / LANES)) * LANES + l < C)
                of_vector +=
                    Products<BELOW_ZERO>::terms({}, l, slope.lane[l], a.lane[l]).number[KERNEL_PRODUCTS];
        total += (double)of_vector;
    }
    total = block_total(part, total);
    if (threadIdx.x == 0)
        scratch[blockIdx.x] = total;
    if (!is_last_block(arrived))
        return;
    total = team_sum<THREADS>(part, scratch, 1, N * BANDS);
    if (threadIdx.x > 0)
        return;
    dw[0] = (ACCUMULATE ? dw[0] : 0) + (real)total;
    zero_padding(dw + 1, slice_padding(1));
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, double *scratch, const stored *x,
                     const stored *dy) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >=
                      (long)N * BANDS * (SHARED ? 1 : KERNEL_NUMBERS * X.block),
                  "numbers of each band");
    constexpr int columns = X.block / LANES;
    constexpr auto sums = unet_band_slopes<columns, BANDS, Products<BELOW_ZERO>>;
    if (SHARED) {
        LAUNCH_BLOCKS(at, KERNEL_shared, N * BANDS, dw, scratch, x, dy, at.arrived);
        return;
    }
    LAUNCH_BLOCKS(at, sums, dim3(N * BANDS, sum_blocks<columns>()), scratch, x, dy, NormOperands{},
                  D * H * W);
    LAUNCH_BLOCKS(at, KERNEL_channels, blocks_for(KERNEL_NUMBERS * C * KERNEL_team()), dw, db, scratch);
}
/* END */
