/* cast.cu - a tensor out of an image as the loader left it, in a type and with a padding of channels of
 * its own; in a launch of its own, or with the filters that are packed. */
#include "filters.cuh"

#define KERNEL cast
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, const void *__restrict__ x) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_vector(y, place(to, i), load_channels<X_STAGED>(x, X.block, C, i / columns, i % columns));
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const void *x) {
    SIZES;
    constexpr Filter image = {X_STAGED, N * D * H * W, X.block, 0, C, Y.block, 0};
    const auto launch_all = [&] { launch_packing(at); };
    if (!at.more && at.jobs->count == 0) {
        LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, x);
        return;
    }
    add_job(at.jobs, filter_job(y, x, image, 0, 0, 0), blocks_for(image.kn * (image.cp / LANES)),
            launch_all);
    if (!at.more)
        launch_all();
}
/* END */
