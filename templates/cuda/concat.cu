/* concat.cu - one tensor out of segments. */
#include "prologue.cuh"

#define KERNEL concat
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
/* Vector `column` of a point: each lane from the segment that holds its channel, all at once where one
 * segment has them side by side. */
static __global__ void KERNEL_vectors(Range range, stored *__restrict__ y, Segments x) {
    SIZES;
    constexpr int columns = Y.block / LANES;
    constexpr Grid to = {D, H, W, columns, Y.ring};
    const unsigned i = vector_index(range), point = i / columns;
    if (i == NO_VECTOR)
        return;
    const int c = i % columns * LANES;
    Vector v = filled(0);
    int first = 0;
#pragma unroll
    for (int s = 0; s < SEGMENTS; s++) {
        const int from = c - first, channels = X[s].channels;
        const unsigned at = place({D, H, W, 1, X[s].ring}, point);
        if (first % LANES == 0 && from >= 0 && from + LANES <= channels)
            v = load_vector(x.at[s], at * (X[s].block / LANES) + from / LANES);
        else
#pragma unroll
            for (int l = 0; l < LANES; l++)
                if (from + l >= 0 && from + l < channels)
                    v.lane[l] = load(x.at[s], (long)at * X[s].block + from + l);
        first += channels;
    }
    store_vector(y, place(to, i), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, const stored *const *x) {
    SIZES;
    static_assert(SEGMENTS <= MAX_SEGMENTS, "what an argument of a kernel holds");
    Segments segments = {};
    for (int s = 0; s < SEGMENTS; s++)
        segments.at[s] = x[s];
    LAUNCH_RANGE(at, KERNEL_vectors, range_of(N, {D, H, W, Y.block / LANES}, rows), y, segments);
}
/* END */
