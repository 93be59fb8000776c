/* conv_wgrad.cu - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias. */
#include "prologue.cuh"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, real *dw, real *db, real *scratch, const stored *const *x,
                     const stored *dy) {
    SIZES;
    constexpr Grid points = {D, H, W, 1, 0};
    constexpr auto unpack = unet_unpack_filter<KD * KH * KW, ACCUMULATE>;
    constexpr auto bias = sum_for_bias<DY.block / LANES, BANDS, ACCUMULATE>;
    for (int s = 0; s < SEGMENTS; s++) {
        const Filter f = FILTER[s];
        stored *filter = (stored *)scratch + f.offset;
        const stored *dense = TRANSPOSED ? dy : x[s], *sampled = TRANSPOSED ? x[s] : dy;
        unet_cuda_convolution(at, GRAPH[s], filter, dense, sampled, NULL, (char *)scratch + WORKSPACE_AT);
        LAUNCH(at, unpack, blocks_for(f.kn * f.cn * KD * KH * KW), dw, filter, f, TRANSPOSED ? CO : CI);
    }
    if (BIAS)
        bias(at, db, scratch + BANDS_AT, dy, range_of(N, points, {0, D * H}), points, CO);
}
/* END */
