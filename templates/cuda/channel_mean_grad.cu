/* channel_mean_grad.cu - gradient of a mean over the channels: each has the same share. */
#include "prologue.cuh"

#define KERNEL channel_mean_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *dy) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, from = {D, H, W, 1, DY.ring};
    const int first = i % columns * LANES;
    const real share = load_vector(dy, place(from, i / columns)).lane[0] / C;
    Vector v;
    for (int l = 0; l < LANES; l++)
        v.lane[l] = first + l < C ? share : 0;
    store_vector(dx, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *dy) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, dx, dy);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, dy);
}
/* END */
