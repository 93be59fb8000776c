/* l1.cu - mean absolute error. */
#include "prologue.cuh"

#define KERNEL l1
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_Error {
    DEVICE double of(double p, double t) { return fabs(p - t); }
};

static __global__ void KERNEL_bands(double *scratch, const void *p, const void *t,
                                    const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block};
    sum_band<KERNEL_Error, P_STAGED, T_STAGED>(scratch, p, t, control, by, BANDS);
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, double *scratch, const void *p, const void *t) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block};
    constexpr auto kernel = sum_samples<Mean, N, BANDS, ACCUMULATE>;
    LAUNCH_BLOCKS(at, KERNEL_bands, N * BANDS, scratch, p, t, at.control);
    LAUNCH_BLOCKS(at, kernel, 1, result, scratch, at.control, by);
}
/* END */
