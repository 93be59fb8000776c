/* slice.cu - some of the channels of a tensor. */
#include "prologue.cuh"

#define KERNEL slice
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *x) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, W, 1, X.ring};
    const unsigned point = place(from, i / columns);
    const int c = i % columns * LANES;
    Vector v = filled(0);
    if (C0 % LANES == 0 && c + LANES <= C)
        v = load_vector(x, point * (X.block / LANES) + (C0 + c) / LANES);
    else
        for (int l = 0; l < LANES; l++)
            v.lane[l] = c + l < C ? load(x, (long)point * X.block + C0 + c + l) : 0;
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *x) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, y, x);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
