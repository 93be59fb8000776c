/* parameter_grad.cu - gradient of a weight that each sample has: the sum over the samples, in their order.
 * BY_POINT: the numbers of a point lie side by side. */
#include "prologue.cuh"

#define KERNEL parameter_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE long KERNEL_place(int c, Point p) {
    SIZES;
    const long point = ((long)p.d * H + p.h) * W + p.w;
    return BY_POINT ? point * C + c : (long)c * D * H * W + point;
}

/* Each thread adds one vector of channels up, over all samples. */
static __global__ void KERNEL_vectors(real *__restrict__ dw, const stored *__restrict__ dy) {
    SIZES;
    constexpr Grid from = {D, H, W, DY.block / LANES};
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= vectors(1, from))
        return;
    const Point p = point_at(from, i);
    if (i == 0)
        zero_padding(dw + C * D * H * W, slice_padding(C * D * H * W));
    Vector total = filled(0);
    for (int n = 0; n < N; n++)
        total = sum(total, load_vector(dy, n * vectors(1, from) + i));
    for (int l = 0; l < LANES && p.column * LANES + l < C; l++) {
        real *const to = dw + KERNEL_place(p.column * LANES + l, p);
        *to = (ACCUMULATE ? *to : 0) + total.lane[l];
    }
}

LAUNCHER void KERNEL(UnetLaunch at, real *dw, const stored *dy) {
    SIZES;
    LAUNCH(at, KERNEL_vectors, blocks_for(vectors(1, {D, H, W, DY.block / LANES})), dw, dy);
}
/* END */
