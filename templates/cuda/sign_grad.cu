/* sign_grad.cu - the gradient of a ReLU, or of a leaky one with SLOPE, by the signs of y, which waits in
 * codes (unet/groups.h). */
#include "prologue.cuh"

#define KERNEL sign_grad
#include "../example_cuda.h"

/* BEGIN */
#define UNET_GROUPS_FUNCTION DEVICE
#include <unet/groups.h>

static __global__ void KERNEL_vectors(Range range, stored *dx, const uint8_t *__restrict__ codes,
                                      const stored *dy) {
    SIZES;
    constexpr int columns = DX.block / LANES, groups = UNET_GROUPS_ALONG(W), apart = 2 * CODE_BITS;
    constexpr Grid to = {D, H, W, columns, DX.ring}, gradient = {D, H, W, columns, DY.ring},
                   from = {D, H, 1, 1, CODES.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(to, i);
    const int first = o.column * LANES, p = o.w % UNET_GROUP_POINTS;
    const long group = first / UNET_GROUP_CHANNELS * groups + o.w / UNET_GROUP_POINTS;
    const uint8_t *const at =
        codes + (long)index(from, {o.n, o.d, o.h, 0, 0}) * CODES.row + group * UNET_GROUP_BYTES(CODE_BITS);
    float low, step;
    memcpy(&low, at, sizeof low);
    memcpy(&step, at + sizeof low, sizeof step);
    const uint8_t *const code = at + UNET_GROUP_HEAD + p % apart * UNET_GROUP_CHANNELS;
    Vector v = load_vector(dy, place(gradient, i));
    for (int l = 0; l < LANES; l++) {
        const int number =
            code[(first + l) % UNET_GROUP_CHANNELS] >> p / apart * CODE_BITS & UNET_GROUP_TOP(CODE_BITS);
        const bool above = ZEROS ? number > 0 : low + step * (real)number > 0;
        v.lane[l] = above ? v.lane[l] : SLOPE == 0 ? 0 : v.lane[l] * (real)SLOPE;
    }
    store_vector(dx, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const uint8_t *codes, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, codes, dy);
}
/* END */
