/* ohem_cross_entropy_grad.cu - its gradient by the logits, at the points that the loss chose. */
#include "labels.cuh"

#define KERNEL ohem_cross_entropy_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *dx, const stored *x, const uint8_t *t,
                                     const double *bounds, const real *terms, const double *scale,
                                     const UnetControl *control) {
    SIZES;
    const Classified by = {{D, H, W, 1}, C, X.block, X.ring,  T.ring, CLASSES, IGNORE,
                           nullptr,      0, 0,       nullptr, 1,      0,       0};
    const double weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) * batch_share(control, N);
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const double term = terms[term_at(i, vectors(1, by.points), TERMS.sample)];
    store_class_slopes(dx, DX.ring, x, t, control, by, i, term <= bounds[0] ? 0 : weight / bounds[1]);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                     const double *bounds, const real *terms, const double *scale) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), dx, x, t, bounds, terms, scale,
                 at.control);
}
/* END */
