/* adaptive_avg_pool.cu - means over parts of the image, as many as y has points, which together make up all
 * of it and may overlap by a point; by a block for each vector of y. */
#include "prologue.cuh"

#define KERNEL adaptive_avg_pool
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES, 0}, out = {D, H, W, Y.block / LANES, 0};
    const Point o = point_at(out, blockIdx.x);
    const Rows d = part_of(o.d, D, ID), h = part_of(o.h, H, IH), w = part_of(o.w, W, IW);
    const unsigned height = h.end - h.begin, width = w.end - w.begin,
                   count = (d.end - d.begin) * height * width;
    Vector total = filled(0);
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        const Point p = {o.n, d.begin + (int)(i / width / height), h.begin + (int)(i / width % height),
                         w.begin + (int)(i % width), o.column};
        total = sum(total, load_vector(x, index(in, p)));
    }
    total = block_vector_sum(total);
    if (threadIdx.x == 0)
        store_vector(y, blockIdx.x, divided(total, count));
}

LAUNCHER void KERNEL(UnetLaunch at, stored *y, const stored *x) {
    SIZES;
    LAUNCH_BLOCKS(at, KERNEL_vectors, vectors(N, {D, H, W, Y.block / LANES}), y, x);
}
/* END */
