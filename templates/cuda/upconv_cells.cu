/* upconv_cells.cu - transposed convolution whose windows tile its output: each point of x makes a cell of
 * y, by a product of points and filters on tensor cores; with bias and ReLU. */
#include "tiles.cuh"

#define KERNEL upconv_cells
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
/* The bits of vector i, or zeros. */
DEVICE uint4 KERNEL_bits(const stored *__restrict__ from, bool there, unsigned i) {
    return there ? reinterpret_cast<const uint4 *>(from)[i] : uint4{0, 0, 0, 0};
}

static __launch_bounds__(THREADS, 2) __global__
    void KERNEL_cells(Range points, stored *__restrict__ y, const stored *__restrict__ x,
                      const stored *__restrict__ filter, const real *__restrict__ b) {
    SIZES;
    constexpr int columns = KD * KH * KW * Y.block;
    constexpr unsigned deep = X[0].block / LANES, width = Y.block / LANES, wide = columns / LANES;
    constexpr Grid in = {ID, IH, IW, 1, X[0].ring}, out = {D, H, W, (int)width, Y.ring};
    const unsigned first = blockIdx.x / tiles_across(columns) * TILE_ROWS,
                   column = blockIdx.x % tiles_across(columns) * (tile_columns(columns) / LANES);
    const auto points_of_x = [=](unsigned row, unsigned v) {
        const bool there = first + row < points.count && v < deep;
        return KERNEL_bits(x, there, there ? place(in, in_range(points, first + row)) * deep + v : 0);
    };
    const auto filters = [=](unsigned term, unsigned v) {
        return KERNEL_bits(filter, term < deep * LANES && column + v < wide, term * wide + column + v);
    };
    const auto finish = [=](unsigned row, unsigned v, Vector sum) {
        const unsigned at = column + v, tap = at / width, c = at % width;
        if (first + row >= points.count || at >= wide)
            return;
        const Point p = point_at(in, in_range(points, first + row));
        for (int l = 0; l < LANES; l++) {
            sum.lane[l] += BIAS && c * LANES + l < CO ? b[c * LANES + l] : 0;
            sum.lane[l] = RELU ? positive(sum.lane[l]) : sum.lane[l];
        }
        store_vector(y,
                     index(out, {p.n, p.d * KD + (int)(tap / (KH * KW)), p.h * KH + (int)(tap / KW % KH),
                                 p.w * KW + (int)(tap % KW), (int)c}),
                     sum);
    };
    multiply<stored, tile_columns(columns)>(deep * LANES, points_of_x, filters, finish);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *y, void *, const stored *const *x,
                     const stored *packed, const real *b) {
    SIZES;
    const Range points =
        range_of(N, {ID, IH, IW, 1}, {rows.begin / (int)(KD * KH), rows.end / (int)(KD * KH)});
    const unsigned blocks =
        (points.count + TILE_ROWS - 1) / TILE_ROWS * tiles_across(KD * KH * KW * Y.block);
    if (blocks > 0)
        LAUNCH_BLOCKS(at, KERNEL_cells, blocks, points, y, x[0], packed + FILTER[0].offset, b);
}
/* END */
