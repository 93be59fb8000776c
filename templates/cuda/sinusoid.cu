/* sinusoid.cu - sines and cosines of a number at each point, of VALUES times it: half of the channels are
 * sines, the others cosines. */
#include "prologue.cuh"

#define KERNEL sinusoid
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const void *__restrict__ x) {
    SIZES;
    constexpr int columns = Y.block / LANES, half = C / 2;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, W, 1, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const real number = load_channels<X_STAGED>(x, X.block, 1, place(from, i / columns), 0).lane[0];
    Vector v = filled(0);
    for (int l = 0; l < LANES; l++) {
        const int c = i % columns * LANES + l;
        const real angle = number * (real)VALUES[c % half];
        if (c < C)
            v.lane[l] = (c < half) != COSINES_FIRST ? sine(angle) : cosine(angle);
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const void *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
}
/* END */
