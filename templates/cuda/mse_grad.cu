/* mse_grad.cu - gradient of the mean squared error by the prediction; zero for samples that do not count;
 * with SUM_BANDS, also sums over bands of its points.
 */
#include "prologue.cuh"

#define KERNEL mse_grad
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Slope {
    DEVICE double of(double p, double t) { return p - t; }
};

/* Vector i, which it returns. */
DEVICE Vector KERNEL_vector(unsigned i, stored *__restrict__ dp, const void *__restrict__ p,
                            const void *__restrict__ t, const double *scale, const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, DP.block / LANES, DP.ring}, C, P.block, T.block, P.ring, T.ring};
    return store_slopes<KERNEL_Slope, P_STAGED, T_STAGED>(dp, i, p, t, control, by,
                                                          2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}

static __global__ void KERNEL_vectors(Range range, stored *__restrict__ dp, const void *__restrict__ p,
                                      const void *__restrict__ t, const double *scale,
                                      const UnetControl *control) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, dp, p, t, scale, control);
}

/* All vectors, and sums over bands of their points. */
static __global__ void KERNEL_sums(stored *__restrict__ dp, real *__restrict__ sums,
                                   const void *__restrict__ p, const void *__restrict__ t,
                                   const double *scale, const UnetControl *control) {
    SIZES;
    constexpr int columns = DP.block / LANES;
    sum_over_points<columns>(sums, N * D * H * W, [=](unsigned point, int column) {
        return KERNEL_vector(point * columns + column, dp, p, t, scale, control);
    });
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dp, real *sums, const void *p, const void *t,
                     const double *scale) {
    SIZES;
    constexpr int columns = DP.block / LANES;
    if (SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, KERNEL_sums, (sum_grid<columns, SUM_BANDS>()), dp, sums, p, t, scale, at.control);
    else
        LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, columns}, rows), dp, p, t, scale,
                     at.control);
}
/* END */
