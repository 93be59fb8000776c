/* psnr.cu - peak signal to noise ratio, for a peak of 1. */
#include "prologue.cuh"

#define KERNEL psnr
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_decibels {
    DEVICE double of(double mean) { return clamp(-10 * log10(mean), 0, 100); }
};

struct KERNEL_Error {
    DEVICE double of(double p, double t) {
        const double difference = clamp(p, 0, 1) - clamp(t, 0, 1);
        return difference * difference;
    }
};

static __global__ void KERNEL_bands(double *result, double *scratch, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_band<KERNEL_Error, KERNEL_decibels, N, BANDS, ACCUMULATE, P_STAGED, T_STAGED>(
        result, scratch, p, t, control, arrived, by, bands);
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
