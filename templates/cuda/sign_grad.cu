/* sign_grad.cu - the gradient of a ReLU, or of a leaky one with SLOPE, by the signs of y, which waits in
 * codes (unet/groups.h). */
#include "coded.cuh"

#define KERNEL sign_grad
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *dx, const uint8_t *__restrict__ codes,
                                      const stored *dy) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {D, H, W, columns, DX.ring}, gradient = {D, H, W, columns, DY.ring},
                   from = {D, H, 1, 1, CODES.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(to, i);
    const int first = o.column * LANES;
    const uint8_t *const row = codes + (long)index(from, {o.n, o.d, o.h, 0, 0}) * CODES.row;
    const Coded coded = coded_group(row, CODE_BITS, W, first, o.w);
    Vector v = load_vector(dy, place(gradient, i));
    for (int l = 0; l < LANES; l++) {
        const int number = coded_number(coded, CODE_BITS, first + l, o.w);
        const bool above = ZEROS ? number > 0 : coded.low + coded.step * (real)number > 0;
        v.lane[l] = above ? v.lane[l] : SLOPE == 0 ? 0 : v.lane[l] * (real)SLOPE;
    }
    store_vector(dx, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const uint8_t *codes, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, codes, dy);
}
/* END */
