/* subtract.cu - difference of two tensors. */
#include "prologue.cuh"

#define KERNEL subtract
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *y, const stored *a, const stored *b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, one = {D, H, W, A.block / LANES, A.ring},
                   other = {D, H, W, B.block / LANES, B.ring};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(y, place(to, i),
                     sum(load_vector(a, place(one, i)), times(-1, load_vector(b, place(other, i)))));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, a, b);
}
/* END */
