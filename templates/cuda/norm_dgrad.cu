/* norm_dgrad.cu - gradient of a normalisation by its input; zero for samples that do not count. */
#include "prologue.cuh"

#define KERNEL norm_dgrad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *dx, const stored *__restrict__ x,
                                      const stored *dy, const real *__restrict__ mean,
                                      const real *__restrict__ variance, const real *__restrict__ w,
                                      const real *__restrict__ sums, const UnetControl *control) {
    SIZES;
    constexpr Grid to = {D, H, W, DX.block / LANES, DX.ring}, from = {D, H, W, X.block / LANES, X.ring},
                   slope = {D, H, W, DY.block / LANES, DY.ring};
    const unsigned i = vector_index(range), sample = i / vectors(1, to);
    if (i == NO_VECTOR)
        return;
    const long set = BATCH ? 0 : sample * MEAN.sample, sum = BATCH ? 0 : sample * SUMS.sample;
    const Vector v = load_vector(x, place(from, i));
    Vector gradient = load_vector(dy, place(slope, i));
    for (int l = 0; l < LANES; l++) {
        const int c = i % to.columns * LANES + l, g = c / (C / GROUPS);
        if (c >= C || !is_valid(control, sample)) {
            gradient.lane[l] = 0;
            continue;
        }
        const real factor = 1 / sqrtf(variance[set + g] + (real)EPSILON);
        const real z = (v.lane[l] - mean[set + g]) * factor;
        gradient.lane[l] =
            (gradient.lane[l] * (AFFINE ? w[c] : 1) - sums[sum + g] - z * sums[sum + GROUPS + g]) * factor;
    }
    store_vector(dx, place(to, i), gradient);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const stored *dy,
                     const real *mean, const real *variance, const real *w, const real *sums,
                     const real *b) {
    SIZES;
    (void)b;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, x, dy, mean,
                 variance, w, sums, at.control);
}
/* END */
