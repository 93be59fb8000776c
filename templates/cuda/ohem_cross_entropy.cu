/* ohem_cross_entropy.cu - cross entropy of the points that are hardest to tell. */
#include "labels.cuh"

#define KERNEL ohem_cross_entropy
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_terms(Range range, real *terms, const stored *x, const uint8_t *t,
                                    const UnetControl *control) {
    SIZES;
    const Classified by = {{D, H, W, 1}, C, X.block, X.ring,  T.ring, CLASSES, IGNORE,
                           nullptr,      0, 0,       nullptr, 1,      0,       0};
    const unsigned i = vector_index(range);
    if (i != NO_VECTOR)
        store_term(terms, TERMS.sample, x, t, control, by, i);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *result, double *bounds, real *terms, double *scratch,
                     const stored *x, const uint8_t *t) {
    SIZES;
    static_assert(SCRATCH >= sizeof(Selection) + 2 * BANDS * sizeof(double),
                  "what selects, and two sums a band");
    constexpr Hard hard = {THRESHOLD, SHARE, LEAST};
    constexpr unsigned points = vectors(1, {D, H, W, 1});
    constexpr auto find = unet_find_digit<N>;
    constexpr auto sum = unet_sum_hard<N, ACCUMULATE>;
    LAUNCH_RANGE(at, KERNEL_terms, range_of(N, {D, H, W, 1}, rows), terms, x, t, at.control);
    if (rows.begin == rows.end || rows.end < D * H)
        return;
    LAUNCH_BLOCKS(at, unet_begin_selection, 1, scratch);
    for (int shift = 24; shift >= 0; shift -= 8)
        LAUNCH_BLOCKS(at, find, sweep_blocks(N * points), scratch, terms, Grid{D, H, W, 1}, TERMS.sample,
                      at.control, hard, shift, at.arrived);
    LAUNCH_BLOCKS(at, sum, dim3(BANDS, 2), result, bounds, scratch, terms, points, TERMS.sample, at.control,
                  hard, at.arrived);
}
/* END */
