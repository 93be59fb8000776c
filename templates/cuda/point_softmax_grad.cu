/* point_softmax_grad.cu - gradient of a softmax over all points of each channel, from its output.  A block
 * has a vector of channels. */
#include "prologue.cuh"

#define KERNEL point_softmax_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_columns(stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr unsigned columns = Y.block / LANES, points = D * H * W;
    const unsigned first = blockIdx.x / columns * points * columns + blockIdx.x % columns;
    Vector total = filled(0);
    for (unsigned p = threadIdx.x; p < points; p += THREADS) {
        Vector share = load_vector(y, first + p * columns);
        const Vector gradient = load_vector(dy, first + p * columns);
#pragma unroll
        for (int l = 0; l < LANES; l++)
            share.lane[l] *= gradient.lane[l];
        total = sum(total, share);
    }
    total = block_vector_sum(total);
    for (unsigned p = threadIdx.x; p < points; p += THREADS) {
        const Vector share = load_vector(y, first + p * columns);
        Vector v = load_vector(dy, first + p * columns);
#pragma unroll
        for (int l = 0; l < LANES; l++)
            v.lane[l] = share.lane[l] * (v.lane[l] - total.lane[l]);
        store_vector(dx, first + p * columns, v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    LAUNCH_BLOCKS(at, KERNEL_columns, N * (Y.block / LANES), dx, y, dy);
}
/* END */
