/* conv_groups.cu - convolution in GROUPS groups of channels: each output channel sums over the channels
 * of its group. */
#include "prologue.cuh"

#define KERNEL conv_groups
#include "../example_cuda.h"

/* BEGIN */
/* The products of output channel co at a point that a tap reads. */
DEVICE real KERNEL_products(const stored *__restrict__ x, const real *__restrict__ w, unsigned at, int co,
                            int tap) {
    SIZES;
    constexpr int in = CI / GROUPS, out = CO / GROUPS;
    real sum = 0;
    for (int j = 0; j < in; j++)
        sum +=
            load(x, (long)at * X.block + co / out * in + j) * w[((long)co * in + j) * (KD * KH * KW) + tap];
    return sum;
}

static __global__ void KERNEL_points(Range range, stored *__restrict__ y, const stored *__restrict__ x,
                                     const real *__restrict__ w, const real *__restrict__ b) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, 1, X.ring}, out = {D, H, W, Y.block / LANES, Y.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(out, i);
    Vector total = filled(0);
    for (int l = 0; l < LANES && BIAS; l++)
        total.lane[l] = o.column * LANES + l < CO ? b[o.column * LANES + l] : 0;
    for (int tap = 0; tap < KD * KH * KW; tap++) {
        const Point p = {o.n, o.d * SD - PD + tap / (KH * KW) * LD, o.h * SH - PH + tap / KW % KH * LH,
                         o.w * SW - PW + tap % KW * LW, 0};
        if (!inside(in, p))
            continue;
        for (int l = 0; l < LANES; l++)
            if (o.column * LANES + l < CO)
                total.lane[l] += KERNEL_products(x, w, index(in, p), o.column * LANES + l, tap);
    }
    store_vector(y, place(out, i), total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x, const real *w, const real *b) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x, w, b);
}
/* END */
