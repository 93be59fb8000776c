/* relu_grad.cu - gradient of a ReLU, from its output. */
#include "prologue.cuh"

#define KERNEL relu_grad
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, stored *dx, const stored *y, const stored *dy) {
    SIZES;
    constexpr unsigned count = vectors(N, {D, H, W, DX.block / LANES});
    LAUNCH(at, mask_vectors<stored>, blocks_for(count), dx, y, dy, count);
}
/* END */
