/* channel_factor_grad.cu - gradient by numbers for each channel that a was multiplied with: sums over the
 * points, by a block for each vector of channels of a sample. */
#include "prologue.cuh"

#define KERNEL channel_factor_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *__restrict__ db, const stored *__restrict__ dy,
                                      const stored *__restrict__ a) {
    SIZES;
    constexpr int columns = DB.block / LANES;
    constexpr unsigned points = (unsigned)D * H * W;
    const unsigned sample = blockIdx.x / columns, column = blockIdx.x % columns;
    Vector total = filled(0);
    for (unsigned p = threadIdx.x; p < points; p += THREADS) {
        const unsigned at = (sample * points + p) * columns + column;
        const Vector gradient = load_vector(dy, at), x = load_vector(a, at);
        for (int l = 0; l < LANES; l++)
            total.lane[l] += gradient.lane[l] * x.lane[l];
    }
    total = block_vector_sum(total);
    if (threadIdx.x == 0)
        store_vector(db, blockIdx.x, total);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *db, const stored *dy, const stored *a) {
    SIZES;
    LAUNCH_BLOCKS(at, KERNEL_vectors, N * (DB.block / LANES), db, dy, a);
}
/* END */
