/* zero.cu - where a sum over the samples starts. */
#include "prologue.cuh"

#define KERNEL zero
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, void *sum, size_t bytes) {
    unet_cuda_check(at, cudaMemsetAsync(sum, 0, bytes, at.stream), __func__);
}
/* END */
