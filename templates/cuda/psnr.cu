/* psnr.cu - peak signal to noise ratio, for a peak of 1. */
#include "prologue.cuh"

#define KERNEL psnr
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_decibels {
    DEVICE double of(double mean) { return between(0, 100, -10 * log10(mean)); }
};

struct KERNEL_Error {
    DEVICE double of(double p, double t) {
        const double difference = between(0, 1, p) - between(0, 1, t);
        return difference * difference;
    }
};

static __global__ void KERNEL_bands(double *scratch, const void *p, const void *t,
                                    const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block};
    sum_band<KERNEL_Error, P_STAGED, T_STAGED>(scratch, p, t, control, by, BANDS);
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, double *scratch, const void *p, const void *t) {
    SIZES;
    constexpr auto kernel = sum_samples<KERNEL_decibels, N, BANDS, ACCUMULATE>;
    LAUNCH_BLOCKS(at, KERNEL_bands, N * BANDS, scratch, p, t, at.control);
    LAUNCH_BLOCKS(at, kernel, 1, result, scratch, at.control, C);
}
/* END */
