/* repeat_grad.cu - gradient of a tensor that was repeated: sums over what it was repeated along. A thread
 * adds up short sums, a block long ones. */
#include "prologue.cuh"

#define KERNEL repeat_grad
#include "../example_cuda.h"

/* BEGIN */
/* How many vectors of dy one of dx was repeated as. */
static constexpr __host__ __device__ int KERNEL_count() {
    SIZES;
    return (BD == 1 ? D : 1) * (BH == 1 ? H : 1) * (BW == 1 ? W : 1) *
           (CB == 1 && C > 1 ? DY.block / LANES : 1);
}

static constexpr int KERNEL_SHORT = 64;

/* Vector o of dx is a sum of vectors of dy; this is number k of them. */
DEVICE Vector KERNEL_part(const stored *__restrict__ dy, Point o, unsigned k) {
    SIZES;
    constexpr int columns = CB == 1 && C > 1 ? DY.block / LANES : 1, width = BW == 1 ? W : 1,
                  height = BH == 1 ? H : 1;
    constexpr Grid from = {D, H, W, DY.block / LANES, DY.ring};
    const unsigned point = k / columns, row = point / width;
    const Point p = {o.n, o.d + (int)(row / height), o.h + (int)(row % height), o.w + (int)(point % width),
                     o.column + (int)(k % columns)};
    return load_vector(dy, index(from, p));
}

/* A tensor of one channel keeps one number: the sum of all lanes. */
DEVICE Vector KERNEL_whole(Vector v) {
    SIZES;
    constexpr bool joins = CB == 1 && C > 1;
    for (int l = 1; joins && l < LANES; l++) {
        v.lane[0] += v.lane[l];
        v.lane[l] = 0;
    }
    return v;
}

static __global__ void KERNEL_vectors(Range range, stored *__restrict__ dx, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid to = {BD, BH, BW, DX.block / LANES, DX.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Vector total = filled(0);
    for (unsigned k = 0; k < KERNEL_count(); k++)
        total = sum(total, KERNEL_part(dy, point_at(to, i), k));
    store_vector(dx, place(to, i), KERNEL_whole(total));
}

/* By a block each; `first` is the vector of the first block of a sample. */
static __global__ void KERNEL_blocks(stored *__restrict__ dx, const stored *__restrict__ dy, unsigned first,
                                     unsigned count) {
    SIZES;
    constexpr Grid to = {BD, BH, BW, DX.block / LANES, DX.ring};
    const unsigned i = blockIdx.x / count * vectors(1, to) + first + blockIdx.x % count;
    Vector total = filled(0);
    for (unsigned k = threadIdx.x; k < KERNEL_count(); k += THREADS)
        total = sum(total, KERNEL_part(dy, point_at(to, i), k));
    total = block_vector_sum(total);
    if (threadIdx.x == 0)
        store_vector(dx, place(to, i), KERNEL_whole(total));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    constexpr Grid to = {BD, BH, BW, DX.block / LANES};
    constexpr unsigned row = BW * (DX.block / LANES);
    const unsigned count = (unsigned)(rows.end - rows.begin) * row;
    if (KERNEL_count() <= KERNEL_SHORT)
        LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, to, rows), dx, dy);
    else if (count > 0)
        LAUNCH_BLOCKS(at, KERNEL_blocks, N * count, dx, dy, rows.begin * row, count);
}
/* END */
