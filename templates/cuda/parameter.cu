/* parameter.cu - the numbers of a weight, for each sample.  BY_POINT: the numbers of a point lie side by
 * side. */
#include "prologue.cuh"

#define KERNEL parameter
#include "../example_cuda.h"

/* BEGIN */
DEVICE long KERNEL_place(int c, Point p) {
    SIZES;
    const long point = ((long)p.d * H + p.h) * W + p.w;
    return BY_POINT ? point * C + c : (long)c * D * H * W + point;
}

static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const real *__restrict__ w) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point p = point_at(to, i);
    Vector v = filled(0);
    for (int l = 0; l < LANES; l++) {
        const int c = p.column * LANES + l;
        v.lane[l] = c < C ? w[KERNEL_place(c, p)] : 0;
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, const real *w) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, {0, D * H}), y, w);
}
/* END */
