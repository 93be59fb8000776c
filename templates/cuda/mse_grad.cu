/* mse_grad.cu - gradient of the mean squared error by the prediction; zero for samples that do not count.
 */
#include "prologue.cuh"

#define KERNEL mse_grad
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Slope {
    DEVICE double of(double p, double t) { return p - t; }
};

static __global__ void KERNEL_vectors(stored *__restrict__ dp, const void *__restrict__ p,
                                      const void *__restrict__ t, const double *scale,
                                      const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, DP.block / LANES}, C, P.block, T.block};
    const unsigned i = thread_index();
    if (i < vectors(N, by.points))
        store_slopes<KERNEL_Slope, P_STAGED, T_STAGED>(dp, i, p, t, control, by,
                                                       2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}

LAUNCHER void KERNEL(UnetLaunch at, stored *dp, const void *p, const void *t, const double *scale) {
    SIZES;
    LAUNCH(at, KERNEL_vectors, blocks_for(vectors(N, {D, H, W, DP.block / LANES})), dp, p, t, scale,
           at.control);
}
/* END */
