/* conv_wgrad.cu - gradients of a convolution, or of a TRANSPOSED one, by its weights as cuDNN leaves them,
 * and sums for the gradient by its bias. */
#include "prologue.cuh"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, real *, real *, void *scratch, real *, real *packed,
                     const stored *const *x, const stored *dy) {
    SIZES;
    constexpr int columns = DY.block / LANES;
    constexpr Grid points = {D, H, W, 1, 0};
    for (int s = 0; s < SEGMENTS; s++)
        unet_cuda_convolution(at, GRAPH[s], (stored *)packed + FILTER[s].offset, TRANSPOSED ? dy : x[s],
                              TRANSPOSED ? x[s] : dy, NULL, scratch);
    if (BANDS > 0)
        LAUNCH_BLOCKS(at, unet_sum_points<columns>, (sum_grid<columns, BANDS>()), packed + BANDS_AT, dy,
                      range_of(N, points, {0, D * H}), points);
}
/* END */
