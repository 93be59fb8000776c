/* diffuse_time.cu - the time of each sample, a whole number below COUNT, or, WEIGHTED, a number of VALUES
 * by it, as the loader would leave it. */
#include "draws.cuh"

#define KERNEL diffuse_time
#include "../example_cuda.h"

/* BEGIN */
static __global__ void KERNEL_samples(const UnetControl *control, real *y) {
    SIZES;
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= N)
        return;
    const int time = draws_below(draws_diffusion(control, NUMBER, i, EVALUATION), COUNT);
    for (int c = 0; c < Y.block; c++)
        y[i * Y.block + c] = c >= C ? 0 : WEIGHTED ? (real)VALUES[time] : (real)time;
}

LAUNCHER void KERNEL(UnetLaunch at, real *y) {
    SIZES;
    LAUNCH(at, KERNEL_samples, blocks_for(N), at.control, y);
}
/* END */
