/* softmax.cu - exp(x) divided by its sum over the channels of the point; a NaN makes all of them NaN. */
#include "prologue.cuh"

#define KERNEL softmax
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
    real largest = -INFINITY, total = 0;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(from, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++)
            largest = here.lane[l] > largest || here.lane[l] != here.lane[l] ? here.lane[l] : largest;
    }
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(from, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++)
            total += expf(here.lane[l] - largest);
    }
    for (p.column = 0; p.column < columns; p.column++) {
        Vector v = load_vector(x, index(from, p));
        for (int l = 0; l < LANES; l++)
            v.lane[l] = p.column * LANES + l < C ? expf(v.lane[l] - largest) / total : 0;
        store_vector(y, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), y, x);
}
/* END */
