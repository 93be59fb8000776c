/* elu_grad.cu - gradient of an ELU, from its output, which is positive where its input is. */
#include "prologue.cuh"

#define KERNEL elu_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, of = {D, H, W, Y.block / LANES, Y.ring},
                   from = {D, H, W, DY.block / LANES, DY.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Vector gradient = load_vector(dy, place(from, i));
    const Vector known = load_vector(y, place(of, i));
    for (int l = 0; l < LANES; l++) {
        const real v = known.lane[l];
        gradient.lane[l] = v > 0 ? gradient.lane[l] : gradient.lane[l] * (v + 1);
    }
    store_vector(dx, place(to, i), gradient);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, y, dy);
}
/* END */
