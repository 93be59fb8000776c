/* dropout.cu - elements that are dropped by chance become zero, and the others so much larger that the mean
 * stays. BY_CHANNEL: all points of a channel together. A NaN stays one.
 *
 * The numbers follow from the seed, the step, the sample and the operator, and from the place of the
 * element in its sample: no plan, target or number of threads changes them. */
#include "draws.cuh"

#define KERNEL dropout
#include "../example_cuda.h"

/* BEGIN */
DEVICE void KERNEL_vector(unsigned i, const UnetControl *control, stored *y, const stored *x) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring}, from = {D, H, W, X.block / LANES, X.ring};
    const Point o = point_at(to, i);
    const uint64_t key = draws_key(control->seed, control->step, NUMBER, control->start + o.n);
    const uint32_t point = draws_at(key, BY_CHANNEL ? 0 : (uint32_t)((o.d * H + o.h) * W + o.w));
    const uint32_t dropped = (uint32_t)(RATE * 4294967296.0);
    Vector v = load_vector(x, place(from, i));
    for (int l = 0; l < LANES; l++) {
        const uint32_t number = draws_of(point, o.column * LANES + l);
        v.lane[l] *= number >= dropped ? (real)(1 / (1 - RATE)) : 0;
    }
    store_vector(y, place(to, i), v);
}

static __global__ void KERNEL_vectors(Range range, const UnetControl *control, stored *y, const stored *x) {
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        KERNEL_vector(i, control, y, x);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *x) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), at.control, y, x);
}
/* END */
