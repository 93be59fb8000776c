/* point_softmax.cu - exp(x) divided by its sum over all points of the channel; a NaN makes all of them NaN.
 * A block has a vector of channels. */
#include "prologue.cuh"

#define KERNEL point_softmax
#include "../example_cuda.h"

/* BEGIN */
/* The larger numbers of both; a NaN is more than any number. */
DEVICE Vector KERNEL_larger(Vector best, Vector here) {
#pragma unroll
    for (int l = 0; l < LANES; l++)
        best.lane[l] =
            here.lane[l] > best.lane[l] || here.lane[l] != here.lane[l] ? here.lane[l] : best.lane[l];
    return best;
}

/* The largest numbers that the threads of a block have. */
DEVICE Vector KERNEL_largest(Vector v) {
    SHARED(Vector, part, [THREADS]);
    part[threadIdx.x] = v;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half)
            part[threadIdx.x] = KERNEL_larger(part[threadIdx.x], part[threadIdx.x + half]);
    }
    __syncthreads();
    return part[0];
}

DEVICE Vector KERNEL_exp(Vector v, Vector largest) {
#pragma unroll
    for (int l = 0; l < LANES; l++)
        v.lane[l] = expf(v.lane[l] - largest.lane[l]);
    return v;
}

static __global__ void KERNEL_columns(stored *y, const stored *x) {
    SIZES;
    constexpr unsigned columns = X.block / LANES, points = D * H * W;
    const unsigned first = blockIdx.x / columns * points * columns + blockIdx.x % columns;
    Vector largest = filled(-INFINITY), total = filled(0);
    for (unsigned p = threadIdx.x; p < points; p += THREADS)
        largest = KERNEL_larger(largest, load_vector(x, first + p * columns));
    largest = KERNEL_largest(largest);
    for (unsigned p = threadIdx.x; p < points; p += THREADS)
        total = sum(total, KERNEL_exp(load_vector(x, first + p * columns), largest));
    total = block_vector_sum(total);
    for (unsigned p = threadIdx.x; p < points; p += THREADS) {
        Vector v = KERNEL_exp(load_vector(x, first + p * columns), largest);
#pragma unroll
        for (int l = 0; l < LANES; l++)
            v.lane[l] = (int)(blockIdx.x % columns) * LANES + l < C ? v.lane[l] / total.lane[l] : 0;
        store_vector(y, first + p * columns, v);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, const stored *x) {
    SIZES;
    LAUNCH_BLOCKS(at, KERNEL_columns, N * (X.block / LANES), y, x);
}
/* END */
