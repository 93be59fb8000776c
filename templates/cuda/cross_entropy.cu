/* cross_entropy.cu - cross entropy of logits and labels; of one channel binary cross entropy. */
#include "labels.cuh"

#define KERNEL cross_entropy
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_bands(double *scratch, const stored *x, const uint8_t *t, const void *map,
                                    const UnetControl *control, Rows bands) {
    SIZES;
    const Classified by = {{D, H, W, 1},
                           C,
                           X.block,
                           X.ring,
                           T.ring,
                           CLASSES,
                           IGNORE,
                           WEIGHTED ? CLASS_WEIGHT : nullptr,
                           SMOOTHING,
                           GAMMA,
                           MAPPED ? map : nullptr,
                           MAP.block,
                           MAP.ring,
                           MAP_STAGED};
    sum_classes(scratch, x, t, control, by, BANDS, bands);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *result, double *scratch, const stored *x,
                     const uint8_t *t, const void *map) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    constexpr auto kernel = unet_sum_counted<N, BANDS, ACCUMULATE, COUNTED>;
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    if (bands.begin < bands.end)
        LAUNCH_BLOCKS(at, KERNEL_bands, N * (bands.end - bands.begin), scratch, x, t, map, at.control,
                      bands);
    if (bands.begin < bands.end && bands.end == BANDS)
        LAUNCH(at, kernel, 1, result, scratch, at.control);
}
/* END */
