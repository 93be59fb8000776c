/* relu.cu - max(x, 0); a NaN stays one. */
#include "prologue.cuh"

#define KERNEL relu
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *y, const stored *x, unsigned count) {
    const unsigned i = thread_index();
    if (i >= count)
        return;
    Vector v = load_vector(x, i);
    for (int l = 0; l < LANES; l++)
        v.lane[l] = positive(v.lane[l]);
    store_vector(y, i, v);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, const stored *x) {
    SIZES;
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    LAUNCH(at, KERNEL_vectors, blocks_for(count), y, x, count);
}
/* END */
