/* cast.cu - a tensor out of an image as the loader left it, in f32 with its own padding of channels. */
#include "prologue.cuh"

#define KERNEL cast
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *__restrict__ y, const real *__restrict__ x) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    const unsigned i = thread_index();
    if (i < vectors(N, {D, H, W, columns}))
        store_vector(y, i, load_channels<1>(x, X.block, C, i / columns, i % columns));
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, const real *x) {
    SIZES;
    LAUNCH(at, KERNEL_vectors, blocks_for(vectors(N, {D, H, W, Y.block / LANES})), y, x);
}
/* END */
