/* conv_rows.cu - a band of rows of a convolution, or TRANSPOSED, over segments, with bias and ReLU. */
#include "rows.cuh"

#define KERNEL conv_rows
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
/* y from rows that cuDNN computed, from row `first` on, which may be rows of y itself. */
static __global__ void KERNEL_put(Range range, stored *y, const stored *computed, int first,
                                  const real *__restrict__ b) {
    SIZES;
    constexpr Grid to = {D, H, W, Y.block / LANES, Y.ring},
                   from = {1, TRANSPOSED ? DENSE : SAMPLED, W, Y.block / LANES, 0};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point p = point_at(to, i);
    Vector v = load_computed(computed, first, from, p);
    for (int l = 0; l < LANES; l++) {
        const int c = p.column * LANES + l;
        if (BIAS && !FINISHED && c < CO)
            v.lane[l] += b[c];
        if (RELU && !FINISHED)
            v.lane[l] = positive(v.lane[l]);
    }
    store_vector(y, index(to, p), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    SIZES;
    constexpr Grid grid = {D, H, W, Y.block / LANES, Y.ring};
    constexpr Strip to = {H, Y.ring, W * (Y.block / LANES)};
    constexpr Reading reading = {!TRANSPOSED, SH, PH, (KH - 1) * LH};
    constexpr int read = TRANSPOSED ? SAMPLED : DENSE, computed = TRANSPOSED ? DENSE : SAMPLED;
    constexpr bool finishes = !FINISHED && (BIAS || RELU);
    stored *window = (stored *)((char *)workspace + (TRANSPOSED ? SAMPLED_AT : DENSE_AT)),
           *other = (stored *)((char *)workspace + (TRANSPOSED ? DENSE_AT : SAMPLED_AT));
    for (int begin = rows.begin; begin < rows.end; begin += ROWS) {
        const Rows part = part_of(rows, begin, ROWS);
        const int first = first_computed(reading, begin);
        const bool in_place =
            first == begin && part.end - begin == computed && side_by_side(N, to, begin, computed);
        stored *result = in_place ? y + row_place(to, begin) : other;
        for (int s = 0; s < SEGMENTS; s++) {
            const Strip from = {IH, X[s].ring, (unsigned)IW * (X[s].block / LANES)};
            unet_cuda_convolution(at, GRAPH[s], result,
                                  window_of(at, window, x[s], N, from, first_read(reading, begin), read,
                                            rows_read(reading, part, IH)),
                                  packed + FILTER[s].offset,
                                  FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
        }
        if (finishes || !in_place)
            LAUNCH_RANGE(at, KERNEL_put, range_of(N, grid, part), y, result, first, b);
    }
}
/* END */
