/* rearrange.cu - the elements of x in another order: parts of its axes are parts of the axes of y.
 *
 * SPLIT has five numbers for each part: the axis of y, and how far apart its elements lie there; its
 * extent; the axis of x, and how far apart they lie there. */
#include "prologue.cuh"

#define KERNEL rearrange
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {ID, IH, IW, 1, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(to, i);
    Vector v;
    for (int l = 0; l < LANES; l++) {
        const int c = o.column * LANES + l, at[4] = {c < C ? c : 0, o.d, o.h, o.w};
        int source[4] = {0, 0, 0, 0}; /* channel, depth, height and width */
#pragma unroll
        for (int s = 0; s < SPLITS; s++)
            source[SPLIT[5 * s + 3]] +=
                at[SPLIT[5 * s]] / (int)SPLIT[5 * s + 1] % (int)SPLIT[5 * s + 2] * (int)SPLIT[5 * s + 4];
        const Point there = {o.n, source[1], source[2], source[3], 0};
        v.lane[l] = c < C ? load(x, (long)index(from, there) * X.block + source[0]) : 0;
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
