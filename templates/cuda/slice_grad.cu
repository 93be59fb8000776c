/* slice_grad.cu - gradient of a slice of the channels: zero for all others; ACCUMULATE: added to a. */
#include "prologue.cuh"

#define KERNEL slice_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *dy, const stored *a) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, other = {D, H, W, columns, A.ring},
                   from = {D, H, W, 1, DY.ring};
    const unsigned point = place(from, i / columns);
    const int c = (int)(i % columns) * LANES - C0;
    Vector more;
    for (int l = 0; l < LANES; l++)
        more.lane[l] = c + l >= 0 && c + l < C ? load(dy, (long)point * DY.block + c + l) : 0;
    store_vector(dx, place(to, i), ACCUMULATE ? sum(load_vector(a, place(other, i)), more) : more);
}

static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *dy, const stored *a) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, dx, dy, a);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *dy, const stored *a) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, dy, a);
}
/* END */
