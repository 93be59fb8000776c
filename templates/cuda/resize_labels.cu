/* resize_labels.cu - a map of classes made smaller: of each point the class of one point of x. */
#include "prologue.cuh"

#define KERNEL resize_labels
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, uint8_t *__restrict__ y, const uint8_t *__restrict__ x) {
    SIZES;
    constexpr Grid in = {ID, IH, IW, 1, X.ring}, out = {D, H, W, 1, Y.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(out, i);
    const Point from = {o.n, (o.d * STEP_D + OFFSET_D) / UNIT_D, (o.h * STEP_H + OFFSET_H) / UNIT_H,
                        (o.w * STEP_W + OFFSET_W) / UNIT_W, 0};
    y[place(out, i)] = x[index(in, from)];
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, uint8_t *y, const uint8_t *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), y, x);
}
/* END */
