/* relu_grad.cu - gradient of a ReLU, from its output. */
#include "prologue.cuh"

#define KERNEL relu_grad
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    LAUNCH_RANGE(at, mask_vectors<stored>, range_of(N, {D, H, W, DX.block / LANES}, rows), dx, y, dy);
}
/* END */
