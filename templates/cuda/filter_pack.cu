/* filter_pack.cu - filters for cuDNN from dense weights: for each segment [filter][tap][channel], both
 * padded with zeros; behind them the bias, padded too. */
#include "filters.cuh"

#define KERNEL filter_pack
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, stored *packed, const real *w, const real *b) {
    SIZES;
    constexpr Filter bias = {0, 1, 1, 0, K, PBIAS, BIAS_AT};
    const auto launch_all = [&] { launch_packing(at); };
    for (int s = 0; s < SEGMENTS; s++)
        add_job(at.jobs, filter_job(packed + FILTER[s].offset, w, FILTER[s], C, TAPS, 0),
                tile_blocks(FILTER[s].kp, FILTER[s].cp), launch_all);
    if (BIAS)
        add_job(at.jobs, filter_job(packed + BIAS_AT, b, bias, K, 1, 0), tile_blocks(1, PBIAS), launch_all);
    if (!at.more)
        launch_all();
}
/* END */
