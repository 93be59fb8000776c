/* conv_dgrad_rows.cu - a band of rows of the gradient of a convolution, or of a transposed one (SLIDES), by
 * one segment of its input. */
#include "rows.cuh"

#define KERNEL conv_dgrad_rows
#include "../example_cuda.h"

/* BEGIN */
/* dx from rows that cuDNN computed, from row `first` on, which may be rows of dx itself; ADDED: added to a.
 */
static __global__ void KERNEL_put(Range range, stored *dx, const stored *computed, int first,
                                  const stored *__restrict__ m, const stored *a) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    constexpr Grid to = {ID, IH, IW, columns, DX.ring}, mask = {ID, IH, IW, columns, M.ring},
                   other = {ID, IH, IW, columns, A.ring},
                   from = {1, SLIDES ? SAMPLED : DENSE, IW, columns, 0};
    const unsigned i = vector_index(range);
    if (i == NO_VECTOR)
        return;
    const Point p = point_at(to, i);
    Vector v = load_computed(computed, first, from, p);
    if (ADDED)
        v = sum(v, load_vector(a, index(other, p)));
    if (MASK)
        v = masked(v, load_vector(m, index(mask, p)));
    store_vector(dx, index(to, p), v);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, void *workspace, const stored *dy,
                     const stored *packed, const stored *m, const stored *a) {
    SIZES;
    constexpr Grid grid = {ID, IH, IW, DX.block / LANES, DX.ring};
    constexpr Strip to = {IH, DX.ring, IW * (DX.block / LANES)},
                    from = {H, DY.ring, W * (DY.block / LANES)};
    constexpr Reading reading = {SLIDES, SH, PH, (KH - 1) * LH};
    constexpr int read = SLIDES ? DENSE : SAMPLED, computed = SLIDES ? SAMPLED : DENSE;
    stored *window = (stored *)((char *)workspace + (SLIDES ? DENSE_AT : SAMPLED_AT)),
           *other = (stored *)((char *)workspace + (SLIDES ? SAMPLED_AT : DENSE_AT));
    for (int begin = rows.begin; begin < rows.end; begin += ROWS) {
        const Rows part = part_of(rows, begin, ROWS);
        const int first = first_computed(reading, begin);
        const bool in_place = !ADDED && first == begin && part.end - begin == computed &&
                              side_by_side(N, to, begin, computed);
        stored *result = in_place ? dx + row_place(to, begin) : other;
        unet_cuda_convolution(at, GRAPH[0], result,
                              window_of(at, window, dy, N, from, first_read(reading, begin), read,
                                        rows_read(reading, part, H)),
                              packed + FILTER[0].offset, NULL, workspace);
        if (MASK || !in_place)
            LAUNCH_RANGE(at, KERNEL_put, range_of(N, grid, part), dx, result, first, m, a);
    }
}
/* END */
