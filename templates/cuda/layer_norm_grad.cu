/* layer_norm_grad.cu - gradient of a normalisation by mean and variance of the channels of a point. */
#include "prologue.cuh"

#define KERNEL layer_norm_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    constexpr int columns = X.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, at = {D, H, W, columns, X.ring},
                   from = {D, H, W, columns, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at({D, H, W, 1}, i);
    real mean = 0, square = 0, slope = 0, product = 0;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(at, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++)
            mean += here.lane[l];
    }
    mean /= C;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(at, p)), gradient = load_vector(dy, index(from, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++) {
            square += (here.lane[l] - mean) * (here.lane[l] - mean);
            slope += gradient.lane[l];
            product += (here.lane[l] - mean) * gradient.lane[l];
        }
    }
    square = square / C + (real)EPSILON;
    const real factor = 1 / sqrtf(square);
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(at, p));
        Vector v = load_vector(dy, index(from, p));
        for (int l = 0; l < LANES; l++)
            v.lane[l] =
                p.column * LANES + l < C
                    ? (v.lane[l] - slope / C - (here.lane[l] - mean) * (product / C / square)) * factor
                    : 0;
        store_vector(dx, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, dy);
}
/* END */
