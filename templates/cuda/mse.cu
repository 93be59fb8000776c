/* mse.cu - mean squared error. */
#include "comparisons.cuh"

#define KERNEL mse
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_bands(UnetComparisons all, const void *p, const void *t,
                                    const UnetControl *control, uint32_t *arrived, Rows bands) {
    SIZES;
    constexpr Compared by = {{D, H, W, 1}, C, P.block, T.block, P.ring, T.ring};
    compare_bands<N, BANDS, P_STAGED, T_STAGED>(all, p, t, control, arrived, by, bands);
}

LAUNCHER void KERNEL(UnetLaunch at, Rows rows, double *result, double *scratch, const void *p,
                     const void *t) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= N * BANDS, "a sum for each band of each sample");
    const Rows bands = bands_in(rows, {D, H, W, 1}, BANDS);
    const auto launch_all = [&] {
        const unsigned blocks = at.comparisons->count * N * (bands.end - bands.begin);
        if (blocks > 0)
            LAUNCH_BLOCKS(at, KERNEL_bands, blocks, *at.comparisons, p, t, at.control, at.arrived, bands);
        at.comparisons->count = 0;
    };
    add_comparison(at.comparisons, {result, scratch, 0, COMPARE_MSE, ACCUMULATE}, launch_all);
    if (!at.more)
        launch_all();
}
/* END */
