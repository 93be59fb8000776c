/* psnr_loss.cu - 10 log10 of the mean square error of each sample: its PSNR with the sign turned round. */
#include "prologue.cuh"

#define KERNEL psnr_loss
#include "../example_cuda.h"

/* BEGIN */
struct KERNEL_decibels {
    DEVICE double of(double mean) { return 10 * log10(mean + 1e-8); }
};

static __global__ void KERNEL_bands(double *scratch, const void *p, const void *t,
                                    const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    sum_band<P_STAGED, T_STAGED>(scratch, p, t, control, by, BANDS, blockIdx.x / BANDS, blockIdx.x % BANDS,
                                 [](double p, double t) { return (p - t) * (p - t); });
}

/* The errors that the gradient reads: 0 for samples that do not count. */
static __global__ void KERNEL_errors(double *errors, const double *scratch, const UnetControl *control) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    const unsigned i = thread_index();
    if (i < N)
        errors[i * ERRORS.sample] =
            is_valid(control, i) ? mean_of_sample(i, scratch, BANDS, control, by) + 1e-8 : 0;
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, double *errors, double *scratch, const void *p,
                     const void *t) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    constexpr auto kernel = unet_sum_samples<KERNEL_decibels, N, BANDS, ACCUMULATE>;
    LAUNCH_BLOCKS(at, KERNEL_bands, N * BANDS, scratch, p, t, at.control);
    LAUNCH(at, KERNEL_errors, blocks_for(N), errors, scratch, at.control);
    LAUNCH_BLOCKS(at, kernel, 1, result, scratch, at.control, by);
}
/* END */
