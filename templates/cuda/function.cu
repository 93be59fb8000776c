/* function.cu - a function of each number. Padding channels stay zero. */
#include "functions.cuh"

#define KERNEL function
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    Vector v = load_vector(x, place(from, i));
    const int first = i % (Y.block / LANES) * LANES;
    for (int l = 0; l < LANES; l++)
        v.lane[l] =
            first + l < C ? function_value(WHICH, v.lane[l], (real)FIRST_NUMBER, (real)SECOND_NUMBER) : 0;
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
