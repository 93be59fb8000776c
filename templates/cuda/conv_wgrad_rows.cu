/* conv_wgrad_rows.cu - what a band of rows adds to the gradients of a convolution, or of a TRANSPOSED one,
 * by its weights and its bias; the first rows begin the sums. */
#include "rows.cuh"

#define KERNEL conv_wgrad_rows
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
/* The rows of dy whose points the bias sums with PART: a transposed convolution has some that no window
 * meets. */
static constexpr Rows KERNEL_rows_of_bias(Rows part) {
    SIZES;
    if (!TRANSPOSED)
        return part;
    return clipped(part.begin == 0 ? 0 : part.begin * SH - PH, part.end == IH ? H : part.end * SH - PH, H);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, real *dw, real *db, real *scratch, const stored *const *x,
                     const stored *dy) {
    SIZES;
    constexpr int columns = DY.block / LANES, taps = KD * KH * KW;
    constexpr Strip of_y = {H, DY.ring, W * columns};
    constexpr Grid points = {D, H, W, 1, DY.ring};
    constexpr Reading reading = {1, SH, PH, (KH - 1) * LH};
    char *memory = (char *)scratch;
    stored *dense = (stored *)(memory + DENSE_AT), *sampled = (stored *)(memory + SAMPLED_AT);
    for (int begin = rows.begin; begin < rows.end; begin += ROWS) {
        const Rows part = part_of(rows, begin, ROWS), met = rows_read(reading, part, TRANSPOSED ? H : IH);
        const int first = first_read(reading, begin);
        const auto unpack =
            ACCUMULATE || begin > 0 ? unet_unpack_filter<taps, 1> : unet_unpack_filter<taps, 0>;
        const auto bias =
            ACCUMULATE || begin > 0 ? sum_for_bias<columns, BANDS, 1> : sum_for_bias<columns, BANDS, 0>;
        const stored *y = TRANSPOSED ? window_of(at, dense, dy, N, of_y, first, DENSE, met)
                                     : window_of(at, sampled, dy, N, of_y, begin, SAMPLED, part);
        for (int s = 0; s < SEGMENTS; s++) {
            const Filter f = FILTER[s];
            const Strip of_x = {IH, X[s].ring, (unsigned)IW * (X[s].block / LANES)};
            const stored *in = TRANSPOSED ? window_of(at, sampled, x[s], N, of_x, begin, SAMPLED, part)
                                          : window_of(at, dense, x[s], N, of_x, first, DENSE, met);
            stored *filter = (stored *)scratch + f.offset;
            unet_cuda_convolution(at, GRAPH[s], filter, TRANSPOSED ? y : in, TRANSPOSED ? in : y, NULL,
                                  memory + WORKSPACE_AT);
            LAUNCH(at, unpack, blocks_for(f.kn * f.cn * taps), dw, filter, f, TRANSPOSED ? CO : CI);
        }
        if (BIAS)
            bias(at, db, scratch + BANDS_AT, dy, range_of(N, points, KERNEL_rows_of_bias(part)), points,
                 CO);
    }
}
/* END */
