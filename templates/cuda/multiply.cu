/* multiply.cu - product of two tensors; b may be a number for each channel, or a map of one channel. */
#include "prologue.cuh"

#define KERNEL multiply
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *a, const stored *b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, A.block / LANES, A.ring},
                   factors = {BD, BH, BW, B.block / LANES, B.ring};
    const Point o = point_at(to, i);
    const bool map = CB == 1 && C > 1;
    const Point p = {o.n, BD == 1 ? 0 : o.d, BH == 1 ? 0 : o.h, BW == 1 ? 0 : o.w, map ? 0 : o.column};
    const Vector factor = load_vector(b, index(factors, p));
    Vector v = load_vector(a, place(from, i));
    for (int l = 0; l < LANES; l++)
        v.lane[l] = o.column * LANES + l < C ? v.lane[l] * factor.lane[map ? 0 : l] : 0;
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *a, const stored *b) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, y, a, b);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, a, b);
}
/* END */
