/* diffuse_time.cu - the time of each sample, a whole number below COUNT, as the loader would leave it. */
#include "draws.cuh"

#define KERNEL diffuse_time
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_samples(const UnetControl *control, real *y) {
    SIZES;
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < N)
        y[i * Y.block] = (real)draws_below(draws_diffusion(control, NUMBER, i, EVALUATION), COUNT);
}

LAUNCHER void KERNEL(UnetLaunch at, real *y) {
    SIZES;
    LAUNCH(at, KERNEL_samples, blocks_for(N), at.control, y);
}
/* END */
