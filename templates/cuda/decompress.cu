/* decompress.cu - a tensor out of its codes, as unet/groups.h says. */
#include "coded.cuh"

#define KERNEL decompress
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y,
                                      const uint8_t *__restrict__ codes) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring}, from = {D, H, 1, 1, CODES.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point o = point_at(to, i);
    const int first = o.column * LANES;
    const uint8_t *const row = codes + (long)index(from, {o.n, o.d, o.h, 0, 0}) * CODES.row;
    const Coded coded = coded_group(row, CODE_BITS, W, first, o.w);
    Vector v = filled(0);
    for (int l = 0; l < LANES; l++) {
        const int c = first + l, number = coded_number(coded, CODE_BITS, c, o.w);
        if (c < C && number >= ZEROS)
            v.lane[l] = coded.low + coded.step * (real)(number - ZEROS);
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const uint8_t *codes) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, codes);
}
/* END */
