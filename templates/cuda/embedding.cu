/* embedding.cu - a row of a table for each point: the row that the number of the point names. */
#include "prologue.cuh"

#define KERNEL embedding
#include "../example_cuda.h"

/* BEGIN */
/* The nearest row; a number that is none means the first. */
DEVICE long KERNEL_row(real number) {
    SIZES;
    const real last = COUNT - 1, nearest = number + 0.5f;
    return nearest >= last ? COUNT - 1 : nearest > 0 ? (long)nearest : 0;
}

static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const void *__restrict__ x,
                                      const real *__restrict__ w) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, W, 1, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const real number = load_channels<X_STAGED>(x, X.block, 1, place(from, i / columns), 0).lane[0];
    const real *const row = w + KERNEL_row(number) * C;
    Vector v = filled(0);
    for (int l = 0; l < LANES; l++) {
        const int c = i % columns * LANES + l;
        if (c < C)
            v.lane[l] = row[c];
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const void *x, const real *w) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x, w);
}
/* END */
