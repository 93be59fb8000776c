/* zero.cu - where a sum over the samples starts. */
#include "prologue.cuh"

#define KERNEL zero
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, void *sum) {
    SIZES;
    unet_cuda_check(at, cudaMemsetAsync(sum, 0, BYTES, at.stream), __func__);
}
/* END */
