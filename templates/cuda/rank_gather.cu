/* rank_gather.cu - brings the slices that processes have updated to all of them. */
#include "prologue.cuh"

#define KERNEL rank_gather
#include "../example_cuda.h"

/* BEGIN */
/* WHOLE is for the runtime, between two steps; all of G were read. */
LAUNCHER void KERNEL(UnetLaunch at, real *, real *p, real *average, const real *) {
    SIZES;
    unet_cuda_gather_ranks(at, p, COUNT);
    if (AVERAGED)
        unet_cuda_gather_ranks(at, average, COUNT);
}
/* END */
