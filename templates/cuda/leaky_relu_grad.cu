/* leaky_relu_grad.cu - gradient of a leaky ReLU, from its output, which is positive where its input is. */
#include "prologue.cuh"

#define KERNEL leaky_relu_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, of = {D, H, W, Y.block / LANES, Y.ring},
                   from = {D, H, W, DY.block / LANES, DY.ring};
    Vector v = load_vector(dy, place(from, i));
    const Vector output = load_vector(y, place(of, i));
    for (int l = 0; l < LANES; l++)
        v.lane[l] = output.lane[l] > 0 ? v.lane[l] : (real)SLOPE * v.lane[l];
    store_vector(dx, place(to, i), v);
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
