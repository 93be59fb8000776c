/* cast.cu - a tensor out of an image as the loader left it, in a type and with a padding of channels of
 * its own. */
#include "prologue.cuh"

#define KERNEL cast
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const void *__restrict__ x) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(y, place(to, i), load_channels<X_STAGED>(x, X.block, C, i / columns, i % columns));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const void *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
