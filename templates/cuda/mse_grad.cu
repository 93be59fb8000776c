/* mse_grad.cu - gradient of the mean squared error by the prediction; zero for samples that do not count;
 * with SUM_BANDS, also sums over bands of its points.
 */
#include "comparisons.cuh"

#define KERNEL mse_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE double KERNEL_weight(const double *scale) {
    SIZES;
    return 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
}

[[maybe_unused]] static constexpr __host__ __device__ Compared KERNEL_by() {
    SIZES;
    return {{D, H, W, DP.block / LANES, DP.ring}, C, P.block, T.block, P.ring, T.ring};
}

struct KERNEL_Loss {
    DEVICE double of(double p, double t) { return p - t; }
    DEVICE double weight(const double *scale, const double *, unsigned) { return KERNEL_weight(scale); }
    static constexpr __host__ __device__ Compared by() { return KERNEL_by(); }
};

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dp, real *sums, const void *p, const void *t,
                     const double *scale) {
    SIZES;
    launch_slopes<KERNEL_Loss, N, P_STAGED, T_STAGED, SUM_BANDS>(at, rows, dp, sums, p, t, NULL, scale);
}
/* END */
