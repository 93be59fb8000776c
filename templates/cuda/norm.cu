/* norm.cu - normalisation by given means and variances, of each of GROUPS groups of channels: of each
 * sample, or, if BATCH, for all samples the same; LEAKY: with a leaky ReLU behind it, with slopes that are
 * weights, if LEARNT. */
#include "moments.cuh"

#define KERNEL norm
#include "../example_cuda.h"

/* BEGIN */
/* For the channels of a vector: y = (x - mean) factor + constant, below zero times the slope. */
struct KERNEL_Factors {
    Vector mean, factor, constant, slope;
};

/* Channels that pad the last vector stay as they are. */
DEVICE KERNEL_Factors KERNEL_factors(const real *__restrict__ mean, const real *__restrict__ variance,
                                     const real *__restrict__ w, const real *__restrict__ b,
                                     const real *__restrict__ slopes, int sample, int column) {
    SIZES;
    const long set = BATCH ? 0 : sample * MEAN.sample;
    KERNEL_Factors f = {filled(0), filled(1), filled(0), filled((real)SLOPE)};
    for (int l = 0; l < LANES; l++) {
        const int c = column * LANES + l, g = c / (C / GROUPS);
        if (c >= C)
            break;
        f.mean.lane[l] = mean[set + g];
        f.factor.lane[l] = (AFFINE ? w[c] : 1) / sqrtf(variance[set + g] + (real)EPSILON);
        f.constant.lane[l] = AFFINE ? b[c] : 0;
        if (LEARNT)
            f.slope.lane[l] = slopes[SHARED ? 0 : c];
    }
    return f;
}

DEVICE real KERNEL_activated(real v, real slope) {
    SIZES;
    return !LEAKY ? v : !LEARNT && SLOPE == 0 ? positive(v) : v > 0 ? v : slope * v;
}

/* Calls THEN for each vector that this thread has stored. */
template <class Then>
DEVICE void KERNEL_each(Range range, const UnetControl *, stored *y, const stored *x,
                        const real *__restrict__ mean, const real *__restrict__ variance,
                        const real *__restrict__ w, const real *__restrict__ b,
                        const real *__restrict__ slopes, Then then) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    KERNEL_Factors f;
    each_normalised<to.columns>(range, !BATCH, [&](unsigned i, unsigned sample, int column, bool is_new) {
        if (is_new)
            f = KERNEL_factors(mean, variance, w, b, slopes, sample, column);
        Vector v = load_vector(x, place(from, i));
        for (int l = 0; l < LANES; l++)
            v.lane[l] = KERNEL_activated(
                (v.lane[l] - f.mean.lane[l]) * f.factor.lane[l] + f.constant.lane[l], f.slope.lane[l]);
        store_vector(y, place(to, i), v);
        then(i);
    });
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *x,
                                      const real *__restrict__ mean, const real *__restrict__ variance,
                                      const real *__restrict__ w, const real *__restrict__ b,
                                      const real *__restrict__ slopes) {
    KERNEL_each(range, NULL, y, x, mean, variance, w, b, slopes, [](unsigned) {});
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x, const real *mean,
                     const real *variance, const real *w, const real *b, const real *slopes) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    LAUNCH_NORMALISED(at, KERNEL_vectors, columns, range_of(N, {D, H, W, columns}, rows), y, x, mean,
                      variance, w, b, slopes);
}
/* END */
