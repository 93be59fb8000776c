/* ssim.cu - mean structural similarity of the windows of two images. */
#include "similarity.cuh"

#define KERNEL ssim
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_rows(double *scratch, const void *p, const void *t,
                                   const UnetControl *control, Rows rows) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    sum_windows<P_STAGED, T_STAGED>(scratch, p, t, control, by, RANGE, rows);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring, REACH};
    constexpr auto kernel = unet_sum_samples<Mean, N, BANDS, ACCUMULATE>;
    static_assert(BANDS == H, "a sum for each row");
    if (rows.begin < rows.end)
        LAUNCH_BLOCKS(at, KERNEL_rows, N * (rows.end - rows.begin), scratch, p, t, at.control, rows);
    if (rows.begin < rows.end && rows.end == BANDS)
        LAUNCH_BLOCKS(at, kernel, 1, result, scratch, at.control, by);
}
/* END */
