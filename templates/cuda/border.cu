/* border.cu - x with points around it: a number, its own points once more, or in the other direction. */
#include "borders.cuh"

#define KERNEL border
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {ID, IH, IW, X.block / LANES, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(to, i);
    const Point p = {o.n, border_source(BORDER_D, o.d - BEFORE_D, ID),
                     border_source(BORDER_H, o.h - BEFORE_H, IH),
                     border_source(BORDER_W, o.w - BEFORE_W, IW), o.column};
    Vector v;
    for (int l = 0; l < LANES; l++)
        v.lane[l] = o.column * LANES + l < C ? (real)BEYOND : 0;
    if (p.d >= 0 && p.h >= 0 && p.w >= 0)
        v = load_vector(x, index(from, p));
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
