/* sinusoid_grad.cu - gradient of sines and cosines by the number: the sum over the channels, in order. */
#include "prologue.cuh"

#define KERNEL sinusoid_grad
#define DX_IS_A_MAP
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ dx, const void *__restrict__ x,
                                     const stored *__restrict__ dy) {
    SIZES;
    constexpr int columns = DY.block / LANES, half = C / 2;
    static_assert(DX.block == LANES, "one vector of one channel");
    constexpr Grid to = {D, H, W, 1, DX.ring}, from = {D, H, W, 1, X.ring},
                   slopes = {D, H, W, columns, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const real number = load_channels<X_STAGED>(x, X.block, 1, place(from, i), 0).lane[0];
    Point p = point_at(to, i);
    Vector sum = filled(0);
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector v = load_vector(dy, index(slopes, p));
        for (int l = 0; l < LANES && p.column * LANES + l < C; l++) {
            const int c = p.column * LANES + l;
            const real frequency = (real)VALUES[c % half], angle = number * frequency;
            sum.lane[0] +=
                v.lane[l] * frequency * ((c < half) != COSINES_FIRST ? cosine(angle) : -sine(angle));
        }
    }
    store_vector(dx, place(to, i), sum);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const void *x, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, dy);
}
/* END */
