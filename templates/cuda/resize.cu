/* resize.cu - a map of another size: of each point the nearest one, or the mean of those around it; or x
 * with an edge taken away or added. */
#include "prologue.cuh"

#define KERNEL resize
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ y, const stored *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, X.block / LANES, X.ring}, out = {D, H, W, Y.block / LANES, Y.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(out, i);
    const Made d = made_of({STEP_D, OFFSET_D, UNIT_D, ID, LINEAR, ZERO}, o.d);
    const Made h = made_of({STEP_H, OFFSET_H, UNIT_H, IH, LINEAR, ZERO}, o.h);
    const Made w = made_of({STEP_W, OFFSET_W, UNIT_W, IW, LINEAR, ZERO}, o.w);
    Vector total = filled(0);
    for (int kd = 0; kd < (LINEAR && ID > 1 ? 2 : 1); kd++)
        for (int kh = 0; kh < (LINEAR ? 2 : 1); kh++)
            for (int kw = 0; kw < (LINEAR ? 2 : 1); kw++) {
                const Point p = {o.n, kd ? d.second : d.first, kh ? h.second : h.first,
                                 kw ? w.second : w.first, o.column};
                const real share = (kd ? d.share : 1 - d.share) * (kh ? h.share : 1 - h.share) *
                                   (kw ? w.share : 1 - w.share);
                if (!ZERO || inside(in, p))
                    total = sum(total, times(share, load_vector(x, index(in, p))));
            }
    store_vector(y, place(out, i), total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
