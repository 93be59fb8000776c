/* conv.cu - convolution, or TRANSPOSED, over segments, with bias and ReLU. */
#include "prologue.cuh"

#define KERNEL conv
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, stored *y, void *workspace, const stored *const *x,
                     const stored *packed, const real *b) {
    SIZES;
    constexpr unsigned count = vectors(N, {D, H, W, Y.block / LANES});
    constexpr auto kernel = unet_add_bias<Y.block / LANES, RELU>;
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], y, x[s], packed + FILTER[s].offset,
                              FINISHED && s == SEGMENTS - 1 ? packed + BIAS_AT : NULL, workspace);
    if (!FINISHED && (BIAS || RELU))
        LAUNCH(at, kernel, blocks_for(bias_stride<Y.block / LANES>(count)), y, BIAS ? b : NULL, CO, count);
}
/* END */
