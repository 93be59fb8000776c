/* constant.cu - numbers of the file, one for each channel. */
#include "prologue.cuh"

#define KERNEL constant
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *y) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= (unsigned)(N * columns))
        return;
    Vector v = filled(0);
    for (int l = 0; l < LANES; l++) {
        const int c = i % columns * LANES + l;
        v.lane[l] = c < C ? (real)VALUES[c] : 0;
    }
    store_vector(y, i, v);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y) {
    SIZES;
    LAUNCH(at, KERNEL_vectors, blocks_for(N * (Y.block / LANES)), y);
}
/* END */
