/* channel_mean.cu - mean over the channels of each point. */
#include "prologue.cuh"

#define KERNEL channel_mean
#define Y_IS_A_MAP
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr int columns = X.block / LANES;
    static_assert(Y.block == LANES, "one vector of one channel");
    constexpr Grid to = {D, H, W, 1, Y.ring}, from = {D, H, W, columns, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at(to, i);
    Vector total = filled(0);
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(from, p));
        for (int l = 0; l < LANES; l++)
            total.lane[0] += here.lane[l];
    }
    store_vector(y, place(to, i), divided(total, C));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), y, x);
}
/* END */
