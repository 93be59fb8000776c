/* charbonnier.cu - mean of sqrt((p - t)^2 + EPSILON^2). */
#include "prologue.cuh"

#define KERNEL charbonnier
#include "../example_cuda.h"

/* BEGIN */
DEVICE double KERNEL_of(double p, double t) {
    SIZES;
    return sqrt((p - t) * (p - t) + EPSILON * EPSILON);
}

struct KERNEL_Error {
    DEVICE double of(double p, double t) { return KERNEL_of(p, t); }
};

static __global__ void KERNEL_bands(double *result, double *scratch, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_band<KERNEL_Error, Mean, N, BANDS, ACCUMULATE, P_STAGED, T_STAGED>(result, scratch, p, t,
                                                                               control, arrived, by, bands);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    SIZES;
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    if (bands.begin < bands.end)
        LAUNCH_BLOCKS(at, KERNEL_bands, N * (bands.end - bands.begin), result, scratch, p, t, at.control,
                      at.arrived, bands);
}
/* END */
