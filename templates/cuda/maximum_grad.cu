/* maximum_grad.cu - gradient of the larger of two numbers, or of the smaller, by the first: of equals half.
 */
#include "prologue.cuh"

#define KERNEL maximum_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *a, const stored *b,
                          const stored *dy) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, one = {D, H, W, A.block / LANES, A.ring},
                   other = {D, H, W, B.block / LANES, B.ring}, from = {D, H, W, DY.block / LANES, DY.ring};
    const Vector x = load_vector(a, place(one, i)), z = load_vector(b, place(other, i));
    Vector gradient = load_vector(dy, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const bool loses = LARGER ? x.lane[l] < z.lane[l] : x.lane[l] > z.lane[l];
        gradient.lane[l] = loses ? 0 : x.lane[l] == z.lane[l] ? gradient.lane[l] / 2 : gradient.lane[l];
    }
    store_vector(dx, place(to, i), gradient);
}

static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *a, const stored *b,
                                      const stored *dy) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, dx, a, b, dy);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *a, const stored *b,
                     const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, a, b, dy);
}
/* END */
