/* conv_groups_wgrad.cu - gradients of a convolution in GROUPS groups of channels by its weights and its
 * bias: a block sums over all points of all samples for one of them. */
#include "prologue.cuh"

#define KERNEL conv_groups_wgrad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_weights(real *dw, const stored *__restrict__ x,
                                      const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, 1}, out = {D, H, W, 1};
    constexpr int taps = KD * KH * KW, of = CI / GROUPS;
    const int tap = blockIdx.x % taps, co = blockIdx.x / taps / of,
              c = co / (CO / GROUPS) * of + blockIdx.x / taps % of;
    double total = 0;
    for (unsigned i = threadIdx.x; i < vectors(N, out); i += THREADS) {
        const Point o = point_at(out, i);
        const Point p = {o.n, o.d * SD - PD + tap / (KH * KW) * LD, o.h * SH - PH + tap / KW % KH * LH,
                         o.w * SW - PW + tap % KW * LW, 0};
        if (inside(in, p))
            total += load(dy, (long)i * DY.block + co) * load(x, (long)index(in, p) * X.block + c);
    }
    total = block_sum(total);
    if (threadIdx.x == 0)
        dw[blockIdx.x] = (ACCUMULATE ? dw[blockIdx.x] : 0) + (real)total;
}

static __global__ void KERNEL_bias(real *db, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid out = {D, H, W, 1};
    double total = 0;
    for (unsigned i = threadIdx.x; i < vectors(N, out); i += THREADS)
        total += load(dy, (long)i * DY.block + blockIdx.x);
    total = block_sum(total);
    if (threadIdx.x == 0)
        db[blockIdx.x] = (ACCUMULATE ? db[blockIdx.x] : 0) + (real)total;
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, const stored *x, const stored *dy) {
    SIZES;
    LAUNCH_BLOCKS(at, KERNEL_weights, CO * (CI / GROUPS) * (KD * KH * KW), dw, x, dy);
    if (BIAS)
        LAUNCH_BLOCKS(at, KERNEL_bias, CO, db, dy);
}
/* END */
