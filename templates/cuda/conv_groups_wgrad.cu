/* conv_groups_wgrad.cu - gradients of a convolution in GROUPS groups of channels by its weights and its
 * bias.
 *
 * Where each channel is a group of its own, a block sums over a band of the points of dy for some taps, by
 * vectors of channels, and then a warp, or a block, adds up the bands of a weight.  Else, without BANDS, a
 * block sums over all points of all samples for one weight. */
#include "moments.cuh"

#define KERNEL conv_groups_wgrad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_pad(real *dw, real *db) {
    SIZES;
    constexpr int weights = CO * (CI / GROUPS) * KD * KH * KW;
    zero_padding(dw + weights, slice_padding(weights));
    if (BIAS)
        zero_padding(db + CO, slice_padding(CO));
}

/* ---- each channel by itself ---- */

/* Taps of a block, and blocks for all taps; the bias is the tap behind the last one. */
constexpr int KERNEL_TAPS = 10;

static constexpr __host__ __device__ int KERNEL_numbers() {
    SIZES;
    return KD * KH * KW + BIAS;
}

static constexpr __host__ __device__ int KERNEL_shares() {
    return (KERNEL_numbers() + KERNEL_TAPS - 1) / KERNEL_TAPS;
}

/* x under a tap of window o: 1 for the bias, 0 beyond the image. */
DEVICE Vector KERNEL_under(const stored *__restrict__ x, Point o, int tap) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW, LD, LH, LW};
    if (tap >= KD * KH * KW)
        return filled(1);
    const Point p = under(window, o, tap / (KH * KW), tap / KW % KH, tap % KW);
    return inside(in, p) ? load_vector(x, index(in, p)) : filled(0);
}

/* The sums of band `blockIdx.x` lie at scratch[blockIdx.x][KERNEL_numbers()][COLUMNS * LANES]. */
static __global__ void KERNEL_bands(double *scratch, const stored *__restrict__ x,
                                    const stored *__restrict__ dy) {
    SIZES;
    constexpr int columns = DY.block / LANES, bands = BANDS > 0 ? BANDS : 1;
    constexpr int WIDTH = sum_width<columns>(), HEIGHT = sum_height<columns>();
    constexpr Grid out = {D, H, W, columns};
    SHARED(Vector, part, [HEIGHT][WIDTH]);
    const Band b = band_of_block<columns, bands>(D * H * W);
    const int first = (int)blockIdx.z * KERNEL_TAPS;
    Vector total[KERNEL_TAPS];
#pragma unroll
    for (int k = 0; k < KERNEL_TAPS; k++)
        total[k] = filled(0);
    for (unsigned p = b.begin + b.row; b.busy && p < b.end; p += HEIGHT) {
        const Vector slope = load_vector(dy, p * columns + b.column);
        const Point o = point_at(out, p * columns + b.column);
#pragma unroll
        for (int k = 0; k < KERNEL_TAPS; k++) {
            const Vector v = first + k < KERNEL_numbers() ? KERNEL_under(x, o, first + k) : filled(0);
            for (int l = 0; l < LANES; l++)
                total[k].lane[l] += slope.lane[l] * v.lane[l];
        }
    }
#pragma unroll
    for (int k = 0; k < KERNEL_TAPS; k++) {
        if (first + k >= KERNEL_numbers())
            break;
        __syncthreads();
        if (b.busy)
            part[b.row][b.lane] = total[k];
        for (int below = upper_half(HEIGHT); below > 0; below /= 2) {
            __syncthreads();
            if (b.busy && b.row < below && b.row + below < HEIGHT)
                part[b.row][b.lane] = sum(part[b.row][b.lane], part[b.row + below][b.lane]);
        }
        double *const to = scratch + ((long)blockIdx.x * KERNEL_numbers() + first + k) * DY.block;
        if (b.busy && b.row == 0)
            for (int l = 0; l < LANES; l++)
                to[b.column * LANES + l] = (double)part[0][b.lane].lane[l];
    }
}

static constexpr __host__ __device__ int KERNEL_team() {
    SIZES;
    return team_for(N * BANDS);
}

/* A weight, or a bias. */
static __global__ void KERNEL_finish(real *dw, real *db, const double *__restrict__ scratch) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    constexpr int taps = KD * KH * KW;
    const int team = team_index<KERNEL_team()>(), tap = team / CO, c = team % CO;
    const double total =
        team_sum<KERNEL_team()>(part, scratch + (long)tap * DY.block + c, (long)KERNEL_numbers() * DY.block,
                                tap < KERNEL_numbers() ? N * BANDS : 0);
    real *const to = tap < taps ? dw + (long)c * taps + tap : BIAS && tap == taps ? db + c : NULL;
    if (threadIdx.x % KERNEL_team() == 0 && to != NULL)
        *to = (ACCUMULATE ? *to : 0) + (real)total;
    if (blockIdx.x == 0 && threadIdx.x == 0)
        KERNEL_pad(dw, db);
}

/* ---- other groups ---- */

static __global__ void KERNEL_weights(real *dw, real *db, const stored *__restrict__ x,
                                      const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, 1}, out = {D, H, W, 1};
    constexpr int taps = KD * KH * KW, of = CI / GROUPS;
    const int tap = blockIdx.x % taps, co = blockIdx.x / taps / of,
              c = co / (CO / GROUPS) * of + blockIdx.x / taps % of;
    double total = 0;
    for (unsigned i = threadIdx.x; i < vectors(N, out); i += THREADS) {
        const Point o = point_at(out, i);
        const Point p = {o.n, o.d * SD - PD + tap / (KH * KW) * LD, o.h * SH - PH + tap / KW % KH * LH,
                         o.w * SW - PW + tap % KW * LW, 0};
        if (inside(in, p))
            total += load(dy, (long)i * DY.block + co) * load(x, (long)index(in, p) * X.block + c);
    }
    total = block_sum(total);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        KERNEL_pad(dw, db);
    if (threadIdx.x == 0)
        dw[blockIdx.x] = (ACCUMULATE ? dw[blockIdx.x] : 0) + (real)total;
}

static __global__ void KERNEL_bias(real *db, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid out = {D, H, W, 1};
    double total = 0;
    for (unsigned i = threadIdx.x; i < vectors(N, out); i += THREADS)
        total += load(dy, (long)i * DY.block + blockIdx.x);
    total = block_sum(total);
    if (threadIdx.x == 0)
        db[blockIdx.x] = (ACCUMULATE ? db[blockIdx.x] : 0) + (real)total;
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, double *scratch, const stored *x,
                     const stored *dy) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= (long)N * BANDS * KERNEL_numbers() * DY.block,
                  "a number for each tap of a channel");
    constexpr int columns = DY.block / LANES;
    if (BANDS > 0) {
        LAUNCH_BLOCKS(at, KERNEL_bands, dim3(N * BANDS, sum_blocks<columns>(), KERNEL_shares()), scratch, x,
                      dy);
        LAUNCH_BLOCKS(at, KERNEL_finish, blocks_for(KERNEL_numbers() * CO * KERNEL_team()), dw, db,
                      scratch);
        return;
    }
    LAUNCH_BLOCKS(at, KERNEL_weights, CO * (CI / GROUPS) * (KD * KH * KW), dw, db, x, dy);
    if (BIAS)
        LAUNCH_BLOCKS(at, KERNEL_bias, CO, db, dy);
}
/* END */
