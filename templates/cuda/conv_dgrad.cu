/* conv_dgrad.cu - gradient of a convolution, or of a transposed one, by one segment of its input.  ADDED:
 * added to another gradient, which most often lies where the sum will. */
#include "prologue.cuh"

#define KERNEL conv_dgrad
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, stored *dx, void *workspace, real *sums, const stored *dy,
                     const stored *packed, const stored *m, const stored *a) {
    SIZES;
    constexpr int columns = DX.block / LANES;
    if (ADDED && a != dx)
        LAUNCH_RANGE(at, unet_copy_vectors<stored>, range_of(N, {ID, IH, IW, columns}, {0, ID * IH}), dx,
                     a);
    unet_cuda_convolution(at, GRAPH[0], dx, dy, packed + FILTER[0].offset, NULL, workspace);
    if (MASK && SUM_BANDS > 0)
        LAUNCH_BLOCKS(at, unet_mask_points<columns>, (sum_grid<columns, SUM_BANDS>()), dx, sums, m,
                      N * ID * IH * IW);
    else if (MASK)
        LAUNCH_RANGE(at, unet_mask_vectors<stored>, range_of(N, {ID, IH, IW, columns}, {0, ID * IH}), dx, m,
                     dx);
}
/* END */
