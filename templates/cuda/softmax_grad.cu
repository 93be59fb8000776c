/* softmax_grad.cu - gradient of a softmax over the channels, from its output. */
#include "prologue.cuh"

#define KERNEL softmax_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, of = {D, H, W, columns, Y.ring},
                   from = {D, H, W, columns, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at({D, H, W, 1}, i);
    real total = 0;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector share = load_vector(y, index(of, p)), gradient = load_vector(dy, index(from, p));
        for (int l = 0; l < LANES; l++)
            total += share.lane[l] * gradient.lane[l];
    }
    for (p.column = 0; p.column < columns; p.column++) {
        Vector v = load_vector(dy, index(from, p));
        const Vector share = load_vector(y, index(of, p));
        for (int l = 0; l < LANES; l++)
            v.lane[l] = p.column * LANES + l < C ? share.lane[l] * (v.lane[l] - total) : 0;
        store_vector(dx, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, y, dy);
}
/* END */
