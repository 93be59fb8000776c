/* decompress.cu - a tensor out of its codes, as unet/groups.h says. */
#include "prologue.cuh"

#define KERNEL decompress
#include "../example_cuda.h"

/* BEGIN */
#define UNET_GROUPS_FUNCTION DEVICE
#include <unet/groups.h>

static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y,
                                      const uint8_t *__restrict__ codes) {
    SIZES;
    constexpr int columns = Y.block / LANES, groups = UNET_GROUPS_ALONG(W), apart = 2 * CODE_BITS;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, 1, 1, CODES.ring};
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
    Vector v = filled(0);
    for (int l = 0; l < LANES; l++) {
        const int c = first + l, number = code[c % UNET_GROUP_CHANNELS] >> p / apart * CODE_BITS &
                                          UNET_GROUP_TOP(CODE_BITS);
        if (c < C && number >= ZEROS)
            v.lane[l] = low + step * (real)(number - ZEROS);
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const uint8_t *codes) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, codes);
}
/* END */
