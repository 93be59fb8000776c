/* pixel_shuffle.cu - FOLD * FOLD channels of a point become as many points of one channel. */
#include "prologue.cuh"

#define KERNEL pixel_shuffle
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H / FOLD, W / FOLD, 1, X.ring};
    const Point o = point_at(to, i);
    const int h = o.h, p = o.w;
    Vector v;
    for (int l = 0; l < LANES; l++) {
        const int c = o.column * LANES + l;
        const Point there = {o.n, 0, h / FOLD, p / FOLD, 0};
        v.lane[l] =
            c < C ? load(x, (long)index(from, there) * X.block + (c * FOLD + h % FOLD) * FOLD + p % FOLD)
                  : 0;
    }
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *x) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, y, x);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
