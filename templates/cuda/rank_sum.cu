/* rank_sum.cu - adds what other processes have summed. */
#include "prologue.cuh"

#define KERNEL rank_sum
#include "../example_cuda.h"

/* BEGIN */
LAUNCHER void KERNEL(UnetLaunch at, real *sums, const real *) {
    SIZES;
    unet_cuda_sum_ranks(at, sums, COUNT);
}
/* END */
