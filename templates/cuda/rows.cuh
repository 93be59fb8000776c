/* rows.cuh - convolutions a few rows at a time, in loops over bands of rows.
 *
 * cuDNN computes tensors of fixed sizes whose rows follow each other; a band begins anywhere, ends early at
 * the last row, and lies in rings. So it is computed in parts of ROWS rows (of the result; of a gradient by
 * weights, of positions of the window), and each part in windows, small tensors of fixed sizes:
 *
 *     gather   the rows that the part reads, of all samples, into a window; a row that it does not need, or
 *              that lies above or below the image, is zeros there
 *     cuDNN    from window to window, without padding above and below
 *     put      the rows of the part from the window to their places, with what cuDNN has left to do
 *
 * Of a single sample, rows that already lie side by side are read and written where they are. */
#include "prologue.cuh"

/* BEGIN */
/* ---- convolutions in loops over bands of rows ------------------------------------------------------- */

/* The rows of an image, of so many vectors each; `ring` as of a Grid. */
struct Strip {
    int height, ring;
    unsigned vectors;
};

/* Which rows a convolution reads: its window slides over them, or over its result. */
struct Reading {
    int slides, stride, padding, reach;
};

[[maybe_unused]] static constexpr Rows clipped(int begin, int end, int height) {
    return {begin < 0 ? 0 : begin > height ? height : begin, end < 0 ? 0 : end > height ? height : end};
}

/* A quotient, rounded up. */
[[maybe_unused]] static constexpr int quotient_above(int a, int b) {
    return a > 0 ? (a + b - 1) / b : a / b;
}

/* The first row that is read for the rows of the result from BEGIN on; it may lie above the image. */
[[maybe_unused]] static constexpr int first_read(Reading r, int begin) {
    return r.slides ? begin * r.stride - r.padding : quotient_above(begin + r.padding - r.reach, r.stride);
}

/* All that are read for PART of the result, of an image of so many rows. */
[[maybe_unused]] static constexpr Rows rows_read(Reading r, Rows part, int height) {
    return clipped(
        first_read(r, part.begin),
        (r.slides ? first_read(r, part.end - 1) + r.reach : (part.end - 1 + r.padding) / r.stride) + 1,
        height);
}

/* The row of the result that cuDNN computes first for the rows from BEGIN on. */
[[maybe_unused]] static constexpr int first_computed(Reading r, int begin) {
    return r.slides ? begin : first_read(r, begin) * r.stride - r.padding;
}

/* Up to ROWS of them, from BEGIN on. */
[[maybe_unused]] static constexpr Rows part_of(Rows all, int begin, int rows) {
    return {begin, begin + rows < all.end ? begin + rows : all.end};
}

[[maybe_unused]] static constexpr bool side_by_side(int samples, Strip s, int first, int count) {
    return samples == 1 && (s.ring == 0 || first % s.ring + count <= s.ring);
}

/* The place of row `row` of the first sample, in elements. */
[[maybe_unused]] static constexpr long row_place(Strip s, int row) {
    return (long)(s.ring > 0 ? row % s.ring : row) * s.vectors * LANES;
}

/* A row of blocks for each of `count` rows of each sample: row `first` and those behind it, zeros where
 * they are not among `wanted`. */
[[maybe_unused]] static __global__ void unet_gather_rows(stored *__restrict__ window,
                                                         const stored *__restrict__ from, Strip s,
                                                         int first, int count, Rows wanted) {
    const int n = blockIdx.x / count, h = first + (int)(blockIdx.x % count);
    const unsigned i = blockIdx.y * THREADS + threadIdx.x;
    const int kept = s.ring > 0 ? s.ring : s.height;
    if (i >= s.vectors)
        return;
    Vector v = filled(0);
    if (h >= wanted.begin && h < wanted.end)
        v = load_vector(from, (unsigned)(n * kept + h % kept) * s.vectors + i);
    store_vector(window, blockIdx.x * s.vectors + i, v);
}

/* The place of `count` rows from `first` on for cuDNN, zeros where they are not among `wanted`: in place,
 * or gathered into the window. */
[[maybe_unused]] static const stored *window_of(UnetLaunch at, stored *window, const stored *from,
                                                int samples, Strip s, int first, int count, Rows wanted) {
    if (wanted.begin <= first && first + count <= wanted.end && side_by_side(samples, s, first, count))
        return from + row_place(s, first);
    LAUNCH(at, unet_gather_rows, dim3(samples * count, blocks_for(s.vectors)), window, from, s, first,
           count, wanted);
    return window;
}

/* Row `row` of a window that begins with row `first`: the vector at point p; zeros where no window of the
 * convolution is. */
DEVICE Vector load_computed(const stored *window, int first, Grid computed, Point p) {
    p.h -= first;
    return p.h >= 0 && p.h < computed.h ? load_vector(window, index(computed, p)) : filled(0);
}
/* END */
