/* channel_max_grad.cu - gradient of a maximum over the channels: it goes to the first that has it, or to
 * the first NaN. */
#include "prologue.cuh"

#define KERNEL channel_max_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ dx, const stored *__restrict__ x,
                                     const stored *__restrict__ dy) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, from = {D, H, W, columns, X.ring};
    constexpr Grid one = {D, H, W, 1, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at(one, i);
    real best = -INFINITY;
    int channel = 0;
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector here = load_vector(x, index(from, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++)
            if (here.lane[l] > best || (here.lane[l] != here.lane[l] && best == best)) {
                best = here.lane[l];
                channel = p.column * LANES + l;
            }
    }
    const real gradient = load_vector(dy, place(one, i)).lane[0];
    for (p.column = 0; p.column < columns; p.column++) {
        Vector v;
        for (int l = 0; l < LANES; l++)
            v.lane[l] = p.column * LANES + l == channel ? gradient : 0;
        store_vector(dx, index(to, p), v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, dy);
}
/* END */
