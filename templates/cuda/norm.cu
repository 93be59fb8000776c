/* norm.cu - normalisation by given means and variances, of each of GROUPS groups of channels: of each
 * sample, or, if BATCH, for all samples the same. */
#include "prologue.cuh"

#define KERNEL norm
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *y, const stored *x,
                                      const real *__restrict__ mean, const real *__restrict__ variance,
                                      const real *__restrict__ w, const real *__restrict__ b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const long set = BATCH ? 0 : i / vectors(1, to) * MEAN.sample;
    Vector v = load_vector(x, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const int c = i % to.columns * LANES + l, g = c / (C / GROUPS);
        if (c >= C)
            break;
        const real factor = (AFFINE ? w[c] : 1) / sqrtf(variance[set + g] + (real)EPSILON);
        v.lane[l] = (v.lane[l] - mean[set + g]) * factor + (AFFINE ? b[c] : 0);
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x, const real *mean,
                     const real *variance, const real *w, const real *b) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x, mean, variance, w,
                 b);
}
/* END */
