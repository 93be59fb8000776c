/* maximum.cu - the larger of two numbers, or the smaller; a NaN is either. */
#include "prologue.cuh"

#define KERNEL maximum
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *a, const stored *b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, one = {D, H, W, A.block / LANES, A.ring},
                   other = {D, H, W, B.block / LANES, B.ring};
    const Vector x = load_vector(a, place(one, i));
    Vector v = load_vector(b, place(other, i));
    for (int l = 0; l < LANES; l++) {
        const bool takes = LARGER ? x.lane[l] > v.lane[l] : x.lane[l] < v.lane[l];
        v.lane[l] = takes || x.lane[l] != x.lane[l] ? x.lane[l] : v.lane[l];
    }
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
