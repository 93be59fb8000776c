/* layer_norm.cu - normalisation by mean and variance of the channels of a point. */
#include "prologue.cuh"

#define KERNEL layer_norm
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *y, const stored *x) {
    SIZES;
    constexpr int columns = X.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, W, columns, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at({D, H, W, 1}, i);
    real mean = 0, variance = 0;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(from, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++)
            mean += here.lane[l];
    }
    mean /= C;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(from, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++)
            variance += (here.lane[l] - mean) * (here.lane[l] - mean);
    }
    const real factor = 1 / sqrtf(variance / C + (real)EPSILON);
    for (p.column = 0; p.column < columns; p.column++) {
        Vector v = load_vector(x, index(from, p));
        for (int l = 0; l < LANES; l++)
            v.lane[l] = p.column * LANES + l < C ? (v.lane[l] - mean) * factor : 0;
        store_vector(y, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), y, x);
}
/* END */
