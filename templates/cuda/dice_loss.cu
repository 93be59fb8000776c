/* dice_loss.cu - 1 less the mean overlap of the classes: dice, Tversky's index. */
#include "labels.cuh"

#define KERNEL dice_loss
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_bands(double *scratch, const stored *x, const uint8_t *t,
                                    const UnetControl *control, Rows bands) {
    SIZES;
    const Classified by = {{D, H, W, 1}, C, X.block, X.ring,  T.ring, CLASSES, IGNORE,
                           nullptr,      0, 0,       nullptr, 1,      0,       0};
    sum_overlap(scratch, x, t, control, by, BANDS, bands, SQUARED);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *result, double *sums, double *scratch,
                     const stored *x, const uint8_t *t) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS * CLASSES * OVERLAPS, "sums of each class");
    constexpr Ratio ratio = {OVER_BOTH, UNDER_BOTH, UNDER_PREDICTED, UNDER_TRULY, SMOOTH,     EPSILON,
                             FIRST,     SQUARED,    JOINT,           BATCH,       SUMS.sample};
    constexpr auto kernel = unet_end_overlap<N, BANDS, CLASSES, ACCUMULATE>;
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    if (bands.begin < bands.end)
        LAUNCH_BLOCKS(at, KERNEL_bands, dim3(N * (bands.end - bands.begin), CLASSES * OVERLAPS), scratch, x,
                      t, at.control, bands);
    if (bands.begin < bands.end && bands.end == BANDS)
        LAUNCH_BLOCKS(at, kernel, 1, result, sums, scratch, at.control, ratio);
}
/* END */
