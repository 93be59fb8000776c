/* dice_loss.cu - 1 less the mean overlap of the classes: dice, Tversky's index. */
#include "labels.cuh"

#define KERNEL dice_loss
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_bands(double *scratch, const stored *x, const uint8_t *t,
                                    const UnetControl *control) {
    SIZES;
    const Classified by = {{D, H, W, 1}, C, X.block, X.ring,  T.ring, CLASSES, IGNORE,
                           nullptr,      0, 0,       nullptr, 1,      0,       0};
    sum_overlap(scratch, x, t, control, by, BANDS, SQUARED);
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, double *sums, double *scratch, const stored *x,
                     const uint8_t *t) {
    SIZES;
    constexpr Ratio ratio = {OVER_BOTH, UNDER_BOTH, UNDER_PREDICTED, UNDER_TRULY, SMOOTH,     EPSILON,
                             FIRST,     SQUARED,    JOINT,           BATCH,       SUMS.sample};
    constexpr auto kernel = end_overlap<N, BANDS, CLASSES, ACCUMULATE>;
    LAUNCH_BLOCKS(at, KERNEL_bands, dim3(N * BANDS, CLASSES * OVERLAPS), scratch, x, t, at.control);
    LAUNCH(at, kernel, 1, result, sums, scratch, at.control, ratio);
}
/* END */
