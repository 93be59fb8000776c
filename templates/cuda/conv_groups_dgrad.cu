/* conv_groups_dgrad.cu - gradient of a convolution in GROUPS groups of channels by its input; with a
 * BIAS it is a transposed convolution. */
#include "prologue.cuh"

#define KERNEL conv_groups_dgrad
#include "../example_cuda.h"

/* BEGIN */
/* The products of input channel c with a position of the window that meets it by a tap. */
DEVICE real KERNEL_products(const stored *__restrict__ dy, const real *__restrict__ w, unsigned at, int c,
                            int tap) {
    SIZES;
    constexpr int in = CI / GROUPS, out = CO / GROUPS;
    real sum = 0;
    for (int j = 0; j < out; j++) {
        const int co = c / in * out + j;
        sum += load(dy, (long)at * DY.block + co) * w[((long)co * in + c % in) * (KD * KH * KW) + tap];
    }
    return sum;
}

static __global__ void KERNEL_points(Range range, stored *__restrict__ dx, const stored *__restrict__ dy,
                                     const real *__restrict__ w, const real *__restrict__ b) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, DX.block / LANES, DX.ring}, out = {D, H, W, 1, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point p = point_at(in, i);
    Vector total = filled(0);
    for (int l = 0; l < LANES && BIAS; l++)
        if (p.column * LANES + l < CI)
            total.lane[l] = b[p.column * LANES + l];
    for (int tap = 0; tap < KD * KH * KW; tap++) {
        const int d = p.d + PD - tap / (KH * KW) * LD, h = p.h + PH - tap / KW % KH * LH,
                  v = p.w + PW - tap % KW * LW;
        const Point o = {p.n, d / SD, h / SH, v / SW, 0};
        if (d < 0 || h < 0 || v < 0 || d % SD != 0 || h % SH != 0 || v % SW != 0 || !inside(out, o))
            continue;
        for (int l = 0; l < LANES; l++)
            if (p.column * LANES + l < CI)
                total.lane[l] += KERNEL_products(dy, w, index(out, o), p.column * LANES + l, tap);
    }
    store_vector(dx, place(in, i), total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy, const real *w, const real *b) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {ID, IH, IW, DX.block / LANES}, rows), dx, dy, w, b);
}
/* END */
