/* add.cu - sum of two tensors, or (PARAMETERS) of two gradients of one parameter, which are f32. */
#include "prologue.cuh"

#define KERNEL add
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *y, const stored *a, const stored *b) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(y, i, sum(load_vector(a, i), load_vector(b, i)));
}

static __global__ void KERNEL_elements(real *y, const real *a, const real *b, unsigned count) {
    const unsigned i = thread_index();
    if (i < count)
        y[i] = a[i] + b[i];
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
