/* gelu.cu - x times the share of a normal distribution below x. */
#include "prologue.cuh"

#define KERNEL gelu
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    Vector values = load_vector(x, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const real v = values.lane[l];
        values.lane[l] = v * 0.5f * erfcf(-v * 0.70710678f);
    }
    store_vector(y, place(to, i), values);
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
