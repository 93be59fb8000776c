/* cross_entropy_grad.cu - gradient of the cross entropy by the logits; zero for samples that do not count.
 */
#include "labels.cuh"

#define KERNEL cross_entropy_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *dx, const stored *x, const uint8_t *t,
                                     const void *map, const double *scale, const UnetControl *control) {
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
    const double counted = control->labelled[COUNTED], weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_class_slopes(dx, DX.ring, x, t, control, by, i, counted > 0 ? weight / counted : 0);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                     const void *map, const double *scale) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, t, map, scale, at.control);
}
/* END */
