/* norm_wgrad.cu - gradients of a normalisation by its weights, and sums that its gradient by the input
 * needs: for each mean the means of w dy and of w dy z, where z is the normalised number.  LEAKY: dy
 * belongs to a leaky ReLU behind it, whose slope follows from the sign of z w + b; LEARNT: its slopes below
 * zero are weights, SHARED: one for all channels.
 *
 * Bands are summed first (moments.cuh).  Then a warp, or a block, adds up the bands of a channel, of a
 * sample or of all, and the last block to come makes the results of these sums. */
#include "moments.cuh"

#define KERNEL norm_wgrad
#include "../example_cuda.h"

/* BEGIN */
/* The sums of a channel: of dy and of dy (x - mean), and, the last, of dy y where y = z w + b is not
 * positive. */
enum { KERNEL_SLOPES, KERNEL_PRODUCTS };

static constexpr __host__ __device__ int KERNEL_numbers() {
    SIZES;
    return LEARNT ? 3 : 2;
}

/* For the channels in a column of vectors: the mean and, if LEAKY, the numbers that make y of x. */
struct KERNEL_Column {
    Vector mean, factor, constant, below;
};

DEVICE KERNEL_Column KERNEL_column(NormOperands of, unsigned sample, int column) {
    SIZES;
    const long set = BATCH ? 0 : sample * MEAN.sample;
    KERNEL_Column known = {filled(0), filled(0), filled(0), filled((real)SLOPE)};
    for (int l = 0; l < LANES; l++) {
        const int c = column * LANES + l;
        if (c >= C)
            break;
        known.mean.lane[l] = of.mean[set + c / (C / GROUPS)];
        if (LEAKY) {
            known.factor.lane[l] =
                (AFFINE ? of.w[c] : 1) / sqrtf(of.variance[set + c / (C / GROUPS)] + (real)EPSILON);
            known.constant.lane[l] = AFFINE ? of.b[c] : 0;
            if (LEARNT)
                known.below.lane[l] = of.slopes[SHARED ? 0 : c];
        }
    }
    return known;
}

DEVICE PointTerms<KERNEL_numbers()> KERNEL_terms(const KERNEL_Column &known, int l, real dy, real x) {
    SIZES;
    const real apart = x - known.mean.lane[l], y = apart * known.factor.lane[l] + known.constant.lane[l];
    const bool below = LEAKY && !(y > 0);
    const real slope = !below ? dy : !LEARNT && SLOPE == 0 ? 0 : dy * known.below.lane[l];
    PointTerms<KERNEL_numbers()> terms = {{slope, slope * apart}};
    if (LEARNT)
        terms.number[KERNEL_numbers() - 1] = below ? dy * y : 0;
    return terms;
}

struct KERNEL_Terms {
    using Known = KERNEL_Column;
    using Sums = PointTerms<KERNEL_numbers()>;
    DEVICE Known known(NormOperands of, unsigned sample, int column) {
        return KERNEL_column(of, sample, column);
    }
    DEVICE Sums terms(const Known &known, int l, real dy, real x) { return KERNEL_terms(known, l, dy, x); }
};

/* The sums over a channel of a set of samples, one or all, lie in the place of the sums of its first band.
 */
DEVICE double *KERNEL_sums_of(double *scratch, int set, int c) {
    SIZES;
    return scratch + (long)set * BANDS * KERNEL_numbers() * X.block + c;
}

/* 1 / sqrt(variance), with which z is made of x. */
DEVICE double KERNEL_factor(const real *variance, int set, int c) {
    SIZES;
    return 1 / sqrt((double)variance[set * MEAN.sample + c / (C / GROUPS)] + EPSILON);
}

/* Sums over the sets of samples. */
DEVICE void KERNEL_weights(real *dw, real *db, double *scratch, const real *variance, int sets, int c) {
    SIZES;
    real w = ACCUMULATE ? dw[c] : 0, b = ACCUMULATE ? db[c] : 0;
    for (int set = 0; set < sets; set++) {
        const double *const sums = KERNEL_sums_of(scratch, set, c);
        b += (real)sums[KERNEL_SLOPES * X.block];
        w += (real)(sums[KERNEL_PRODUCTS * X.block] * KERNEL_factor(variance, set, c));
    }
    dw[c] = w;
    db[c] = b;
}

/* Means over group g of a set of COUNT points; none: zero. */
DEVICE void KERNEL_means(real *sums, double *scratch, const real *variance, const real *w, double count,
                         int set, int g) {
    SIZES;
    constexpr int of = C / GROUPS;
    double all[2] = {0, 0};
    for (int c = g * of; c < (g + 1) * of; c++) {
        const double *const total = KERNEL_sums_of(scratch, set, c);
        const double weight = AFFINE ? w[c] : 1;
        all[0] += total[KERNEL_SLOPES * X.block] * weight;
        all[1] += total[KERNEL_PRODUCTS * X.block] * KERNEL_factor(variance, set, c) * weight;
    }
    for (int k = 0; k < 2; k++)
        sums[set * SUMS.sample + k * GROUPS + g] = (real)(count > 0 ? all[k] / count : 0);
}

static constexpr __host__ __device__ int KERNEL_sets() {
    SIZES;
    return BATCH ? 1 : N;
}

static constexpr __host__ __device__ int KERNEL_team() {
    SIZES;
    return team_for((BATCH ? N : 1) * BANDS);
}

/* The gradient of one slope: the slope of channels [c, end). */
DEVICE void KERNEL_slope(real *dslope, double *scratch, int sets, int c, int end) {
    SIZES;
    real slope = ACCUMULATE ? *dslope : 0;
    for (int set = 0; set < sets; set++) {
        double total = 0;
        for (int k = c; k < end; k++)
            total += KERNEL_sums_of(scratch, set, k)[(KERNEL_numbers() - 1) * X.block];
        slope += (real)total;
    }
    *dslope = slope;
}

/* The gradients of the slopes of all channels, or of the one slope. */
DEVICE void KERNEL_slopes(real *dslopes, double *scratch, int sets) {
    SIZES;
    constexpr int count = SHARED ? 1 : C;
    for (int k = threadIdx.x; k < count; k += THREADS)
        KERNEL_slope(dslopes + k, scratch, sets, k, SHARED ? C : k + 1);
    if (threadIdx.x == 0)
        zero_padding(dslopes + count, slice_padding(count));
}

/* The bands of channel c of a set, as far as samples count. */
template <class Part> DEVICE void KERNEL_add_bands(Part &part, double *scratch, int set, int c, int valid) {
    SIZES;
    const int samples = set >= KERNEL_sets() ? 0 : BATCH ? valid : set < valid;
    double *const of_channel = KERNEL_sums_of(scratch, set, c);
    for (int k = 0; k < KERNEL_numbers(); k++) {
        const double total = team_sum<KERNEL_team()>(part, of_channel + k * X.block,
                                                     KERNEL_numbers() * X.block, samples * BANDS);
        if (threadIdx.x % KERNEL_team() == 0 && set < KERNEL_sets())
            of_channel[k * X.block] = total;
    }
}

static __global__ void KERNEL_channels(real *dw, real *db, double *scratch, real *sums, real *dslopes,
                                       const real *variance, const real *w, const UnetControl *control,
                                       uint32_t *arrived) {
    SIZES;
    SHARED(double, part, [THREADS / WARP]);
    const int valid = samples_of(control, N), team = team_index<KERNEL_team()>();
    KERNEL_add_bands(part, scratch, team / C, team % C, valid);
    if (!is_last_block(arrived))
        return;
    for (int k = threadIdx.x; AFFINE && k < C; k += THREADS)
        KERNEL_weights(dw, db, scratch, variance, KERNEL_sets(), k);
    if (AFFINE && threadIdx.x == 0) {
        zero_padding(dw + C, slice_padding(C));
        zero_padding(db + C, slice_padding(C));
    }
    if (LEARNT && dslopes != NULL)
        KERNEL_slopes(dslopes, scratch, KERNEL_sets());
    for (int k = threadIdx.x; k < KERNEL_sets() * GROUPS; k += THREADS) {
        const int points = BATCH ? valid : k / GROUPS < valid;
        KERNEL_means(sums, scratch, variance, w, (double)points * (C / GROUPS) * (D * H * W), k / GROUPS,
                     k % GROUPS);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, double *scratch, real *sums, real *dslopes,
                     const stored *x, const stored *dy, const real *mean, const real *variance,
                     const real *w, const real *b, const real *slopes) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= (long)N * BANDS * KERNEL_numbers() * X.block,
                  "numbers of each channel");
    constexpr int columns = X.block / LANES;
    constexpr auto bands = unet_band_slopes<columns, BANDS, KERNEL_Terms>;
    LAUNCH_BLOCKS(at, bands, dim3(N * BANDS, sum_blocks<columns>()), scratch, x, dy,
                  NormOperands{mean, variance, w, b, slopes}, D * H * W);
    LAUNCH_BLOCKS(at, KERNEL_channels, blocks_for(KERNEL_sets() * C * KERNEL_team()), dw, db, scratch, sums,
                  dslopes, variance, w, at.control, at.arrived);
}
/* END */
