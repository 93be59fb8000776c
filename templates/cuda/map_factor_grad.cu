/* map_factor_grad.cu - gradient by a map of one channel that a was multiplied with: sums over the channels.
 */
#include "prologue.cuh"

#define KERNEL map_factor_grad
#define DB_IS_A_MAP
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_points(Range range, stored *__restrict__ db, const stored *__restrict__ dy,
                                     const stored *__restrict__ a) {
    SIZES;
    constexpr int columns = A.block / LANES;
    static_assert(DB.block == LANES, "one vector of one channel");
    constexpr Grid to = {D, H, W, 1, DB.ring}, one = {D, H, W, columns, DY.ring},
                   other = {D, H, W, columns, A.ring};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    Point p = point_at(to, i);
    Vector total = filled(0);
    for (p.column = 0; p.column < columns; p.column++) {
        const Vector gradient = load_vector(dy, index(one, p)), x = load_vector(a, index(other, p));
        for (int l = 0; l < LANES; l++)
            total.lane[0] += gradient.lane[l] * x.lane[l];
    }
    store_vector(db, place(to, i), total);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *db, const stored *dy, const stored *a) {
    SIZES;
    LAUNCH_RANGE(at, KERNEL_points, range_of(N, {D, H, W, 1}, rows), db, dy, a);
}
/* END */
