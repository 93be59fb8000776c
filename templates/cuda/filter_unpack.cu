/* filter_unpack.cu - gradients of dense weights from the gradients that cuDNN left packed; the gradient of
 * the bias is summed over its bands.  Numbers that pad either to whole vectors become zero. */
#include "filters.cuh"

#define KERNEL filter_unpack
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, const real *packed, const real *summed) {
    SIZES;
    constexpr Filter bands = {0, BANDS, slice_padding(CO), 0, CO, DY.block, 0};
    const auto launch_all = [&] {
        LAUNCH_BLOCKS(at, unet_unpack_filters, at.jobs->blocks, *at.jobs);
        at.jobs->count = at.jobs->blocks = 0;
    };
    for (int s = 0; s < SEGMENTS; s++) {
        Filter filter = FILTER[s];
        filter.kp = s == SEGMENTS - 1 ? slice_padding(K * C * TAPS) : 0;
        add_job(at.jobs,
                filter_job(dw, (const stored *)packed + filter.offset, filter, C, TAPS, ACCUMULATE),
                tile_blocks(filter.kn, filter.cn), launch_all);
    }
    if (BIAS)
        add_job(at.jobs, filter_job(db, SUMMED ? summed : packed + BANDS_AT, bands, 0, 0, ACCUMULATE),
                channel_blocks(CO), launch_all);
    if (!at.more)
        launch_all();
}
/* END */
