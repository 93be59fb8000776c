/* smooth_l1_grad.cu - gradient of smooth_l1 by the prediction; zero for samples that do not
 * count.
 */
#include "prologue.cuh"

#define KERNEL smooth_l1_grad
#include "../example_cuda.h"

/* BEGIN */
DEVICE double KERNEL_of(double p, double t) {
    SIZES;
    return clamp((p - t) / BETA, -1, 1);
}

struct KERNEL_Slope {
    DEVICE double of(double p, double t) { return KERNEL_of(p, t); }
};

static __global__ void KERNEL_vectors(Range range, stored *__restrict__ dp, const void *__restrict__ p,
                                      const void *__restrict__ t, const double *scale,
                                      const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, DP.block / LANES, DP.ring}, C, P.block, T.block, P.ring, T.ring};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_slopes<KERNEL_Slope, P_STAGED, T_STAGED>(dp, i, p, t, control, by,
                                                       WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dp, const void *p, const void *t,
                     const double *scale) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DP.block / LANES}, rows), dp, p, t, scale,
                 at.control);
}
/* END */
