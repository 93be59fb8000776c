/* softmax_grad.cu - gradient of a softmax over the channels of each group, from its output.  A thread has a
 * group that begins with a vector, or all groups of a point. */
#include "prologue.cuh"

#define KERNEL softmax_grad
#include "../example_cuda.h"

/* BEGIN */
/* The sum of y dy over the group that begins with channel `first`. */
DEVICE real KERNEL_total(const stored *y, const stored *dy, Point p, int first) {
    SIZES;
    constexpr Grid of = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, DY.block / LANES, DY.ring};
    real total = 0;
    for (p.column = first / LANES; p.column * LANES < first + C / GROUPS; p.column++) {
        const Vector share = load_vector(y, index(of, p)), gradient = load_vector(dy, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++)
            if (p.column * LANES + l >= first && p.column * LANES + l < first + C / GROUPS)
                total += share.lane[l] * gradient.lane[l];
    }
    return total;
}

static __global__ void KERNEL_points(Range range, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr int each = C / GROUPS, parts = each % LANES == 0 ? GROUPS : 1,
                  step = each == C || parts > 1 ? LANES : 1, columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, of = {D, H, W, columns, Y.ring},
                   from = {D, H, W, columns, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at({D, H, W, parts}, i);
    const int end = (p.column + 1) * (columns / parts);
    real total = 0;
    for (p.column *= columns / parts; p.column < end; p.column++) {
        const Vector share = load_vector(y, index(of, p));
        Vector v = load_vector(dy, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            const int c = p.column * LANES + l;
            if (l % step == 0 && c < C && c % each == 0)
                total = KERNEL_total(y, dy, p, c);
            v.lane[l] = c < C ? share.lane[l] * (v.lane[l] - total) : 0;
        }
        store_vector(dx, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr int parts = C / GROUPS % LANES == 0 ? GROUPS : 1;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, parts}, rows), dx, y, dy);
}
/* END */
