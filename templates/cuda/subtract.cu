/* subtract.cu - difference of two tensors. */
#include "prologue.cuh"

#define KERNEL subtract
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *a, const stored *b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, one = {D, H, W, A.block / LANES, A.ring},
                   other = {D, H, W, B.block / LANES, B.ring};
    store_vector(y, place(to, i),
                 sum(load_vector(a, place(one, i)), times(-1, load_vector(b, place(other, i)))));
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
