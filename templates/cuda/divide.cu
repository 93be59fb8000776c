/* divide.cu - quotient of two tensors. Padding channels stay zero. */
#include "prologue.cuh"

#define KERNEL divide
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *a, const stored *b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, one = {D, H, W, A.block / LANES, A.ring},
                   other = {D, H, W, B.block / LANES, B.ring};
    Vector v = load_vector(a, place(one, i));
    const Vector divisor = load_vector(b, place(other, i));
    const int first = i % (Y.block / LANES) * LANES;
    for (int l = 0; l < LANES; l++)
        v.lane[l] = first + l < C ? v.lane[l] / divisor.lane[l] : 0;
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
