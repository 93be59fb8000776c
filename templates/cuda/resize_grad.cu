/* resize_grad.cu - gradient of a map of another size: a point collects from those that are made of it. */
#include "prologue.cuh"

#define KERNEL resize_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ dx, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES, DX.ring}, out = {D, H, W, DY.block / LANES, DY.ring};
    constexpr Positions in_d = {STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO};
    constexpr Positions in_h = {STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO};
    constexpr Positions in_w = {STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point p = point_at(in, i);
    const Rows d = readers_of(in_d, p.d, D), h = readers_of(in_h, p.h, H), w = readers_of(in_w, p.w, W);
    Vector total = filled(0);
    for (int od = d.begin; od < d.end; od++)
        for (int oh = h.begin; oh < h.end; oh++)
            for (int ow = w.begin; ow < w.end; ow++) {
                const real share =
                    share_in(in_d, p.d, od) * share_in(in_h, p.h, oh) * share_in(in_w, p.w, ow);
                const Point o = {p.n, od, oh, ow, p.column};
                total = sum(total, times(share, load_vector(dy, index(out, o))));
            }
    store_vector(dx, place(in, i), total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {ID, IH, IW, DX.block / LANES}, rows), dx, dy);
}
/* END */
