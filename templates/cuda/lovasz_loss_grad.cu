/* lovasz_loss_grad.cu - gradient of the Lovasz loss by the logits, from the slopes that the loss left. */
#include "labels.cuh"

#define KERNEL lovasz_loss_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *dx, const stored *x, const double *present,
                                     const real *slopes, const double *scale, const UnetControl *control) {
    SIZES;
    const Classified by = {{D, H, W, 1}, C, X.block, X.ring,  T.ring, CLASSES, IGNORE,
                           nullptr,      0, 0,       nullptr, 1,      0,       0};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_lovasz_slopes(dx, DX.ring, x, control, by, i, *present, slopes, SLOPES.sample,
                            WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) * batch_share(control, N));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                     const double *present, const real *slopes, const double *scale) {
    SIZES;
    (void)t;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, present, slopes, scale,
                 at.control);
}
/* END */
