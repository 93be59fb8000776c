/* adaptive_avg_pool_grad.cu - gradient of means over parts of the image: a point collects from the parts
 * that hold it. */
#include "prologue.cuh"

#define KERNEL adaptive_avg_pool_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(stored *__restrict__ dx, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES, 0}, out = {D, H, W, DY.block / LANES, 0};
    const unsigned i = thread_index();
    if (i >= vectors(N, in))
        return;
    const Point p = point_at(in, i);
    const Rows d = parts_with(p.d, D, ID), h = parts_with(p.h, H, IH), w = parts_with(p.w, W, IW);
    Vector total = filled(0);
    for (int od = d.begin; od < d.end; od++)
        for (int oh = h.begin; oh < h.end; oh++)
            for (int ow = w.begin; ow < w.end; ow++) {
                const Point o = {p.n, od, oh, ow, p.column};
                total = sum(total, divided(load_vector(dy, index(out, o)), (real)part_points(od, D, ID) *
                                                                               part_points(oh, H, IH) *
                                                                               part_points(ow, W, IW)));
            }
    store_vector(dx, i, total);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dx, const stored *dy) {
    SIZES;
    LAUNCH(at, KERNEL_points, blocks_for(vectors(N, {ID, IH, IW, DX.block / LANES})), dx, dy);
}
/* END */
