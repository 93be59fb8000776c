/* conv_dgrad.cu - gradient of a convolution, or of a transposed one, by one segment of its input. */
#include "prologue.cuh"

#define KERNEL conv_dgrad
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, stored *dx, void *workspace, const stored *dy, const stored *packed,
                     const stored *m) {
    SIZES;
    unet_cuda_convolution(at, GRAPH[0], dx, dy, packed + FILTER[0].offset, NULL, workspace);
    if (MASK)
        LAUNCH_RANGE(at, unet_mask_vectors<stored>,
                     range_of(N, {ID, IH, IW, DX.block / LANES}, {0, ID * IH}), dx, m, dx);
}
/* END */
