/* border_grad.cu - gradient of a tensor with points around it: the sum over the copies of each point. */
#include "borders.cuh"

#define KERNEL border_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ dx, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid to = {ID, IH, IW, DX.block / LANES, DX.ring},
                   from = {D, H, W, DY.block / LANES, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(to, i);
    Vector total = filled(0);
    for (int k = 0; k < BORDER_COPIES * BORDER_COPIES * BORDER_COPIES; k++) {
        const Point p = {o.n,
                         border_copy(BORDER_D, k / (BORDER_COPIES * BORDER_COPIES), o.d, ID, BEFORE_D, D),
                         border_copy(BORDER_H, k / BORDER_COPIES % BORDER_COPIES, o.h, IH, BEFORE_H, H),
                         border_copy(BORDER_W, k % BORDER_COPIES, o.w, IW, BEFORE_W, W), o.column};
        if (p.d >= 0 && p.h >= 0 && p.w >= 0)
            total = sum(total, load_vector(dy, index(from, p)));
    }
    store_vector(dx, place(to, i), total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {ID, IH, IW, DX.block / LANES}, rows), dx, dy);
}
/* END */
