/* add.cu - sum of two tensors, or (PARAMETERS) of two gradients of one parameter, which are f32. */
#include "prologue.cuh"

#define KERNEL add
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *y, const stored *a, const stored *b, unsigned count) {
    const unsigned i = thread_index();
    if (i < count)
        store_vector(y, i, sum(load_vector(a, i), load_vector(b, i)));
}

static __global__ void KERNEL_numbers(real *y, const real *a, const real *b, unsigned count) {
    const unsigned i = thread_index();
    if (i < count)
        y[i] = a[i] + b[i];
}

LAUNCHER void KERNEL(UnetLaunch at, void *y, const void *a, const void *b) {
    SIZES;
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    if (PARAMETERS)
        LAUNCH(at, KERNEL_numbers, blocks_for(C), (real *)y, (const real *)a, (const real *)b, C);
    else
        LAUNCH(at, KERNEL_vectors, blocks_for(count), (stored *)y, (const stored *)a, (const stored *)b,
               count);
}
/* END */
