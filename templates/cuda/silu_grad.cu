/* silu_grad.cu - gradient of x * s, s = 1 / (1 + exp(-x)): s + x * s * (1 - s). */
#include "prologue.cuh"

#define KERNEL silu_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, of = {D, H, W, X.block / LANES, X.ring},
                   from = {D, H, W, DY.block / LANES, DY.ring};
    Vector v = load_vector(dy, place(from, i));
    const Vector at = load_vector(x, place(of, i));
    for (int l = 0; l < LANES; l++) {
        const float s = 1 / (1 + expf(-at.lane[l]));
        v.lane[l] = v.lane[l] * s * (1 + at.lane[l] * (1 - s));
    }
    store_vector(dx, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *x, const stored *dy) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, dx, x, dy);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, x, dy);
}
/* END */
