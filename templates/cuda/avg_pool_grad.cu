/* avg_pool_grad.cu - gradient of a mean over windows: a point collects from the windows that hold it. */
#include "prologue.cuh"

#define KERNEL avg_pool_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ dx, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES, DX.ring}, out = {D, H, W, DY.block / LANES, DY.ring};
    constexpr Window window = {KD, KH, KW, SD, SH, SW, PD, PH, PW};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Vector total = filled(0);
    each_window_over(point_at(in, i), window, out,
                     [&](Point o, int) { total = sum(total, load_vector(dy, index(out, o))); });
    store_vector(dx, place(in, i), divided(total, KD * KH * KW));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {ID, IH, IW, DX.block / LANES}, rows), dx, dy);
}
/* END */
