/* tanh_grad.cu - gradient of a hyperbolic tangent, from its output. */
#include "prologue.cuh"

#define KERNEL tanh_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, of = {D, H, W, Y.block / LANES, Y.ring},
                   from = {D, H, W, DY.block / LANES, DY.ring};
    Vector gradient = load_vector(dy, place(from, i));
    const Vector known = load_vector(y, place(of, i));
    for (int l = 0; l < LANES; l++) {
        const real v = known.lane[l];
        gradient.lane[l] = gradient.lane[l] * (1 - v * v);
    }
    store_vector(dx, place(to, i), gradient);
}

static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *y, const stored *dy) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, dx, y, dy);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, y, dy);
}
/* END */
