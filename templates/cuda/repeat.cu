/* repeat.cu - x, repeated along each axis that has one channel, plane, row or point. */
#include "prologue.cuh"

#define KERNEL repeat
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {BD, BH, BW, X.block / LANES, X.ring};
    const Point o = point_at(to, i);
    const bool one = CB == 1 && C > 1;
    const Point p = {o.n, BD == 1 ? 0 : o.d, BH == 1 ? 0 : o.h, BW == 1 ? 0 : o.w, one ? 0 : o.column};
    const Vector small = load_vector(x, index(from, p));
    Vector v;
    for (int l = 0; l < LANES; l++)
        v.lane[l] = o.column * LANES + l < C ? small.lane[one ? 0 : l] : 0;
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *x) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, y, x);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
