/* function_grad.cu - gradient of a function of each number. Padding channels stay zero. */
#include "functions.cuh"

#define KERNEL function_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *x, const stored *dy) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, of = {D, H, W, X.block / LANES, X.ring},
                   from = {D, H, W, DY.block / LANES, DY.ring};
    Vector gradient = load_vector(dy, place(from, i));
    const Vector v = load_vector(x, place(of, i));
    const int first = i % (DX.block / LANES) * LANES;
    for (int l = 0; l < LANES; l++) {
        const real slope = function_slope(WHICH, v.lane[l], (real)FIRST_NUMBER, (real)SECOND_NUMBER);
        gradient.lane[l] = first + l < C ? gradient.lane[l] * slope : 0;
    }
    store_vector(dx, place(to, i), gradient);
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
