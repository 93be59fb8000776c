/* lovasz_loss.cu - the Lovasz extension of the Jaccard loss: of softmax, or, of one channel, of the hinge.
 */
#include "labels.cuh"

#define KERNEL lovasz_loss
#include "../example_cuda.h"

/* BEGIN */
DEVICE Sorted KERNEL_sorted(const uint8_t *t, const UnetControl *control) {
    SIZES;
    constexpr unsigned points = vectors(1, {D, H, W, 1});
    return {{{D, H, W, 1}, C, X.block, X.ring, T.ring, CLASSES, IGNORE, nullptr, 0, 0, nullptr, 1, 0, 0},
            t,
            control,
            N * points,
            points,
            SLOPES.sample};
}

static __global__ void KERNEL_given(real *slopes, const stored *x, const uint8_t *t,
                                    const UnetControl *control) {
    store_given(slopes, x, KERNEL_sorted(t, control), thread_index());
}

static __global__ void KERNEL_errors(uint32_t *errors, const real *given, int k, const uint8_t *t,
                                     const UnetControl *control) {
    store_error(errors, given, KERNEL_sorted(t, control), k, thread_index());
}

static __global__ void KERNEL_hits(double *scratch, const uint32_t *errors, int k, const uint8_t *t,
                                   const UnetControl *control) {
    count_hits(scratch, errors, KERNEL_sorted(t, control), k, thread_index());
}

static __global__ void KERNEL_slopes(double *scratch, const uint32_t *errors, real *slopes, int k,
                                     const uint8_t *t, const UnetControl *control) {
    store_lovasz(scratch, errors, slopes, KERNEL_sorted(t, control), k, thread_index());
}

LAUNCHER void KERNEL(UnetLaunch at, double *result, double *present, real *slopes, double *scratch,
                     const stored *x, const uint8_t *t) {
    SIZES;
    constexpr unsigned points = vectors(1, {D, H, W, 1}), count = N * points,
                       parts = blocks_for(SORTING_PARTS);
    static_assert(SCRATCH >= sizeof(Sorting) + 4UL * count * sizeof(uint32_t), "errors and points, twice");
    constexpr auto end_one = unet_end_class<(C == 1)>;
    constexpr auto end = unet_end_lovasz<N, ACCUMULATE>;
    uint32_t *errors = reinterpret_cast<uint32_t *>(scratch + sizeof(Sorting) / sizeof *scratch);
    LAUNCH(at, unet_begin_sorting, 1, scratch);
    LAUNCH(at, KERNEL_given, blocks_for(count), slopes, x, t, at.control);
    for (int k = C == 1; k < CLASSES; k++) {
        real *plane = slopes + (C == 1 ? 0 : (long)k * points);
        LAUNCH(at, KERNEL_errors, blocks_for(count), errors, plane, k, t, at.control);
        for (int shift = 0, second = 0; shift < 32; shift += 4, second = !second) {
            uint32_t *from = errors + (second ? 2 * count : 0), *to = errors + (second ? 0 : 2 * count);
            LAUNCH_BLOCKS(at, unet_count_places, parts, scratch, from, count, shift);
            LAUNCH_BLOCKS(at, unet_sum_places, 1, scratch);
            LAUNCH_BLOCKS(at, unet_move_places, parts, scratch, from, to, count, shift);
        }
        LAUNCH(at, KERNEL_hits, parts, scratch, errors, k, t, at.control);
        LAUNCH_BLOCKS(at, unet_sum_hits, 1, scratch);
        LAUNCH(at, KERNEL_slopes, parts, scratch, errors, plane, k, t, at.control);
        LAUNCH_BLOCKS(at, end_one, 1, scratch);
    }
    LAUNCH(at, end, 1, result, present, scratch, at.control);
}
/* END */
