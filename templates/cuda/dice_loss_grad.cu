/* dice_loss_grad.cu - gradient of the loss by overlap by the logits, from the sums that the loss left. */
#include "labels.cuh"

#define KERNEL dice_loss_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *dx, const stored *x, const uint8_t *t,
                                     const double *sums, const double *scale, const UnetControl *control) {
    SIZES;
    const Classified by = {{D, H, W, 1}, C, X.block, X.ring,  T.ring, CLASSES, IGNORE,
                           nullptr,      0, 0,       nullptr, 1,      0,       0};
    constexpr Ratio ratio = {OVER_BOTH, UNDER_BOTH, UNDER_PREDICTED, UNDER_TRULY, SMOOTH,     EPSILON,
                             FIRST,     SQUARED,    JOINT,           BATCH,       SUMS.sample};
    const double weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) * (BATCH ? batch_share(control, N) : 1);
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_overlap_slopes(dx, DX.ring, x, t, control, by, i, sums, ratio, weight);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                     const double *sums, const double *scale) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, t, sums, scale, at.control);
}
/* END */
