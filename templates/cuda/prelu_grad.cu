/* prelu_grad.cu - gradient of a ReLU whose slopes below zero are weights. */
#include "prologue.cuh"

#define KERNEL prelu_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *dx, const stored *x, const stored *dy,
                          const real *__restrict__ w) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, at = {D, H, W, columns, X.ring},
                   from = {D, H, W, columns, DY.ring};
    const Vector here = load_vector(x, place(at, i));
    Vector v = load_vector(dy, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const int c = i % columns * LANES + l;
        if (c < C && !(here.lane[l] > 0))
            v.lane[l] *= w[SHARED ? 0 : c];
    }
    store_vector(dx, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *x, const stored *dy,
                                      const real *__restrict__ w) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, dx, x, dy, w);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy,
                     const real *w) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, x, dy, w);
}
/* END */
