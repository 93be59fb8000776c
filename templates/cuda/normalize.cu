/* normalize.cu - each of GROUPS groups of the channels of a point divided by its length, or, RMS, by the
 * root of the mean of its squares.  A thread has a group that begins with a vector, or all groups of a
 * point. */
#include "prologue.cuh"

#define KERNEL normalize
#include "../example_cuda.h"

/* BEGIN */
/* The factor of the group that begins with channel `first`.  A NaN stays one. */
DEVICE real KERNEL_factor(const stored *x, Point p, int first) {
    SIZES;
    constexpr Grid from = {D, H, W, X.block / LANES, X.ring};
    real square = 0;
    for (p.column = first / LANES; p.column * LANES < first + C / GROUPS; p.column++) {
        const Vector here = load_vector(x, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++)
            if (p.column * LANES + l >= first && p.column * LANES + l < first + C / GROUPS)
                square += here.lane[l] * here.lane[l];
    }
    const real length = sqrtf(square);
    return 1 / (RMS > 0                  ? sqrtf(square / (C / GROUPS) + (real)EPSILON)
                : length < (real)EPSILON ? (real)EPSILON
                                         : length);
}

static __global__ void KERNEL_points(Range range, stored *y, const stored *x) {
    SIZES;
    constexpr int each = C / GROUPS, parts = each % LANES == 0 ? GROUPS : 1,
                  step = each == C || parts > 1 ? LANES : 1, columns = X.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, W, columns, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at({D, H, W, parts}, i);
    const int end = (p.column + 1) * (columns / parts);
    real factor = 0;
    for (p.column *= columns / parts; p.column < end; p.column++) {
        Vector v = load_vector(x, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            const int c = p.column * LANES + l;
            if (l % step == 0 && c < C && c % each == 0)
                factor = KERNEL_factor(x, p, c);
            v.lane[l] = c < C ? v.lane[l] * factor : 0;
        }
        store_vector(y, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    constexpr int parts = C / GROUPS % LANES == 0 ? GROUPS : 1;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, parts}, rows), y, x);
}
/* END */
