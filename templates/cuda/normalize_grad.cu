/* normalize_grad.cu - gradient of channels divided by the length of their group, or by the root of the mean
 * of its squares.  A thread has a group that begins with a vector, or all groups of a point. */
#include "prologue.cuh"

#define KERNEL normalize_grad
#include "../example_cuda.h"

/* BEGIN */
/* The gradient is `slope` times dy less `along` times x. */
struct KERNEL_Group {
    real slope, along;
};

/* The numbers of the group that begins with channel `first`.  One that is shorter than EPSILON has a
 * constant factor. */
DEVICE KERNEL_Group KERNEL_group(const stored *x, const stored *dy, Point p, int first) {
    SIZES;
    constexpr Grid at = {D, H, W, X.block / LANES, X.ring}, from = {D, H, W, DY.block / LANES, DY.ring};
    real square = 0, product = 0;
    for (p.column = first / LANES; p.column * LANES < first + C / GROUPS; p.column++) {
        const Vector here = load_vector(x, index(at, p)), gradient = load_vector(dy, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++)
            if (p.column * LANES + l >= first && p.column * LANES + l < first + C / GROUPS) {
                square += here.lane[l] * here.lane[l];
                product += here.lane[l] * gradient.lane[l];
            }
    }
    const real mean = square / (C / GROUPS) + (real)EPSILON, length = sqrtf(square);
    if (RMS > 0)
        return {1 / sqrtf(mean), product / (C / GROUPS) / mean / sqrtf(mean)};
    return length < (real)EPSILON ? KERNEL_Group{1 / (real)EPSILON, 0}
                                  : KERNEL_Group{1 / length, product / square / length};
}

static __global__ void KERNEL_points(Range range, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    constexpr int each = C / GROUPS, parts = each % LANES == 0 ? GROUPS : 1,
                  step = each == C || parts > 1 ? LANES : 1, columns = X.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, at = {D, H, W, columns, X.ring},
                   from = {D, H, W, columns, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at({D, H, W, parts}, i);
    const int end = (p.column + 1) * (columns / parts);
    KERNEL_Group group = {0, 0};
    for (p.column *= columns / parts; p.column < end; p.column++) {
        const Vector here = load_vector(x, index(at, p));
        Vector v = load_vector(dy, index(from, p));
#pragma unroll
        for (int l = 0; l < LANES; l++) {
            const int c = p.column * LANES + l;
            if (l % step == 0 && c < C && c % each == 0)
                group = KERNEL_group(x, dy, p, c);
            v.lane[l] = c < C ? v.lane[l] * group.slope - here.lane[l] * group.along : 0;
        }
        store_vector(dx, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    constexpr int parts = C / GROUPS % LANES == 0 ? GROUPS : 1;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, parts}, rows), dx, x, dy);
}
/* END */
