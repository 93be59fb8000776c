/* softmax.cu - exp(x) divided by its sum over the channels of the point in each of GROUPS groups; a NaN
 * makes all of a group NaN.  A thread has a group that begins with a vector, or all groups of a point. */
#include "prologue.cuh"

#define KERNEL softmax
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Group {
    real largest, total;
};

/* The numbers of the group that begins with channel `first`. */
DEVICE KERNEL_Group KERNEL_group(const stored *x, Point p, int first) {
    SIZES;
    constexpr Grid from = {D, H, W, X.block / LANES, X.ring};
    KERNEL_Group group = {-INFINITY, 0};
    const int end = first + C / GROUPS;
    for (p.column = first / LANES; p.column * LANES < end; p.column++) {
        const Vector here = load_vector(x, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++)
            if (p.column * LANES + l >= first && p.column * LANES + l < end)
                group.largest = here.lane[l] > group.largest || here.lane[l] != here.lane[l]
                                    ? here.lane[l]
                                    : group.largest;
    }
    for (p.column = first / LANES; p.column * LANES < end; p.column++) {
        const Vector here = load_vector(x, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++)
            if (p.column * LANES + l >= first && p.column * LANES + l < end)
                group.total += expf(here.lane[l] - group.largest);
    }
    return group;
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
    KERNEL_Group group = {0, 1};
    for (p.column *= columns / parts; p.column < end; p.column++) {
        Vector v = load_vector(x, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            const int c = p.column * LANES + l;
            if (l % step == 0 && c < C && c % each == 0)
                group = KERNEL_group(x, p, c);
            v.lane[l] = c < C ? expf(v.lane[l] - group.largest) / group.total : 0;
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
