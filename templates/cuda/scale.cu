/* scale.cu - a factor, and a bias, for each channel, or, if SHARED, one for all; BELOW_ZERO: only where x
 * is not positive. */
#include "prologue.cuh"

#define KERNEL scale
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *, stored *y, const stored *x,
                          const real *__restrict__ w, const real *__restrict__ b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    Vector v = load_vector(x, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const int c = i % to.columns * LANES + l;
        if (c < C && !(BELOW_ZERO && v.lane[l] > 0))
            v.lane[l] = v.lane[l] * w[SHARED ? 0 : c] + (BIAS ? b[c] : 0);
    }
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, stored *y, const stored *x, const real *__restrict__ w,
                                      const real *__restrict__ b) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, NULL, y, x, w, b);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x, const real *w, const real *b) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x, w, b);
}
/* END */
