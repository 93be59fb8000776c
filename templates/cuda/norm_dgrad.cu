/* norm_dgrad.cu - gradient of a normalisation by its input; zero for samples that do not count.  LEAKY: dy
 * is the gradient by the output of a leaky ReLU behind it.  Its slope follows from the sign of the
 * normalised number.  LEARNT: its slopes below zero are weights, SHARED: one for all channels. */
#include "moments.cuh"

#define KERNEL norm_dgrad
#include "../example_cuda.h"

/* BEGIN */
/* For the channels of a vector: dx = slope dy - constant - (x - mean) linear, and y = (x - mean) slope +
 * shift, below zero times `below`.
 */
struct KERNEL_Factors {
    Vector mean, slope, constant, linear, shift, below;
};

DEVICE KERNEL_Factors KERNEL_factors(const real *__restrict__ mean, const real *__restrict__ variance,
                                     const real *__restrict__ w, const real *__restrict__ b,
                                     const real *__restrict__ sums, const real *__restrict__ slopes,
                                     int sample, int column) {
    SIZES;
    const long set = BATCH ? 0 : sample * MEAN.sample, sum = BATCH ? 0 : sample * SUMS.sample;
    KERNEL_Factors f = {filled(0), filled(0), filled(0), filled(0), filled(0), filled((real)SLOPE)};
    for (int l = 0; l < LANES; l++) {
        const int c = column * LANES + l, g = c / (C / GROUPS);
        if (c >= C)
            break;
        const real deviation = sqrtf(variance[set + g] + (real)EPSILON), factor = 1 / deviation;
        f.mean.lane[l] = mean[set + g];
        f.slope.lane[l] = (AFFINE ? w[c] : 1) / deviation;
        f.shift.lane[l] = LEAKY && AFFINE ? b[c] : 0;
        f.constant.lane[l] = sums[sum + g] * factor;
        f.linear.lane[l] = sums[sum + GROUPS + g] * factor * factor;
        if (LEARNT)
            f.below.lane[l] = slopes[SHARED ? 0 : c];
    }
    return f;
}

/* Calls THEN for each vector that this thread has stored. */
template <class Then>
DEVICE void KERNEL_each(Range range, const UnetControl *control, stored *dx, const stored *__restrict__ x,
                        const stored *dy, const real *__restrict__ mean, const real *__restrict__ variance,
                        const real *__restrict__ w, const real *__restrict__ sums,
                        const real *__restrict__ b, const real *__restrict__ slopes, Then then) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, from = {D, H, W, X.block / LANES, X.ring},
                   slope = {D, H, W, DY.block / LANES, DY.ring};
    KERNEL_Factors f;
    each_normalised<to.columns>(range, !BATCH, [&](unsigned i, unsigned sample, int column, bool is_new) {
        if (is_new)
            f = KERNEL_factors(mean, variance, w, b, sums, slopes, sample, column);
        const Vector v = load_vector(x, place(from, i));
        Vector gradient = load_vector(dy, place(slope, i));
        const bool counts = is_valid(control, sample);
        for (int l = 0; l < LANES; l++) {
            const real apart = v.lane[l] - f.mean.lane[l];
            const bool below = LEAKY && !(apart * f.slope.lane[l] + f.shift.lane[l] > 0);
            const real dy_norm = !below                  ? gradient.lane[l]
                                 : !LEARNT && SLOPE == 0 ? 0
                                                         : gradient.lane[l] * f.below.lane[l];
            gradient.lane[l] =
                counts ? dy_norm * f.slope.lane[l] - f.constant.lane[l] - apart * f.linear.lane[l] : 0;
        }
        store_vector(dx, place(to, i), gradient);
        then(i);
    });
}

static __global__ void KERNEL_vectors(Range range, const UnetControl *control, stored *dx,
                                      const stored *__restrict__ x, const stored *dy,
                                      const real *__restrict__ mean, const real *__restrict__ variance,
                                      const real *__restrict__ w, const real *__restrict__ sums,
                                      const real *__restrict__ b, const real *__restrict__ slopes) {
    KERNEL_each(range, control, dx, x, dy, mean, variance, w, sums, b, slopes, [](unsigned) {});
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy,
                     const real *mean, const real *variance, const real *w, const real *sums, const real *b,
                     const real *slopes) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    LAUNCH_NORMALISED(at, KERNEL_vectors, columns, range_of(N, {D, H, W, columns}, rows), at.control, dx, x,
                      dy, mean, variance, w, sums, b, slopes);
}
/* END */
