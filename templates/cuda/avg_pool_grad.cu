/* avg_pool_grad.cu - gradient of a mean over windows: a point collects from the windows that hold it. */
#include "prologue.cuh"

#define KERNEL avg_pool_grad
#include "../example_cuda.h"

/* BEGIN */
/* How many points of window o along an axis are no padding. */
DEVICE int KERNEL_inside(int o, int stride, int padding, int kernel, int extent) {
    const int first = o * stride - padding, end = first + kernel;
    return (end < extent ? end : extent) - (first > 0 ? first : 0);
}

/* All of them; 1, if padding counts. */
DEVICE real KERNEL_points_of(Point o) {
    SIZES;
    return INSIDE ? KERNEL_inside(o.d, SD, PD, KD, ID) * KERNEL_inside(o.h, SH, PH, KH, IH) *
                        KERNEL_inside(o.w, SW, PW, KW, IW)
                  : 1;
}

static __global__ void KERNEL_points(Range range, stored *__restrict__ dx, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES, DX.ring}, out = {D, H, W, DY.block / LANES, DY.ring};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Vector total = filled(0);
    each_window_over(point_at(in, i), window, out, [&](Point o, int) {
        const Vector gradient = load_vector(dy, index(out, o));
        total = sum(total, INSIDE ? divided(gradient, KERNEL_points_of(o)) : gradient);
    });
    store_vector(dx, place(in, i), INSIDE ? total : divided(total, KD * KH * KW));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {ID, IH, IW, DX.block / LANES}, rows), dx, dy);
}
/* END */
