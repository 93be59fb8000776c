/* add.cu - sum of two tensors, or (PARAMETERS) of two gradients of one parameter, which are f32. */
#include "prologue.cuh"

#define KERNEL add
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *a, const stored *b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, one = {D, H, W, A.block / LANES, A.ring},
                   other = {D, H, W, B.block / LANES, B.ring};
    store_vector(y, place(to, i), sum(load_vector(a, place(one, i)), load_vector(b, place(other, i))));
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *a, const stored *b) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, y, a, b);
}

static __global__ void KERNEL_elements(real *y, const real *a, const real *b, unsigned count) {
    const unsigned i = thread_index();
    if (i < count)
        y[i] = a[i] + b[i];
    if (i == 0)
        zero_padding(y + count, slice_padding((int)count));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, void *y, const void *a, const void *b) {
    SIZES;
    if (PARAMETERS)
        LAUNCH(at, KERNEL_elements, blocks_for(C), (real *)y, (const real *)a, (const real *)b, C);
    else
        LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), (stored *)y,
                     (const stored *)a, (const stored *)b);
}
/* END */
