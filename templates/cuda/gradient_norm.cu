/* gradient_norm.cu - the norm of all gradients as one vector, and by what they are multiplied so that it is
 * at most LIMIT: PyTorch's clip_grad_norm_. */
#include "prologue.cuh"

#define KERNEL gradient_norm
#include "../example_cuda.h"

/* BEGIN */
/* The sum of a block's share of the squares. */
static __global__ void KERNEL_look(double *__restrict__ scratch, const real *__restrict__ g) {
    SIZES;
    double sum = 0;
    for (int run = 0; run < RUNS; run++)
        for (unsigned i = (unsigned)RUN[2 * run] + thread_index(); i < RUN[2 * run + 1];
             i += BANDS * THREADS)
            sum += (double)g[AT[run] + i] * (double)g[AT[run] + i];
    const double total = block_sum(sum);
    if (threadIdx.x == 0)
        scratch[blockIdx.x] = total;
}

static __global__ void KERNEL_finish(double *norm, const double *scratch, const double *scale) {
    SIZES;
    double sum = 0;
    for (int band = threadIdx.x; band < BANDS; band += THREADS)
        sum += scratch[band];
    const double squares = block_sum(sum);
    if (threadIdx.x > 0)
        return;
    const double unscale = SCALED ? scale[UNSCALE] : 1;
    const double length = unscale == 0 ? -1 : sqrt(squares) * unscale, share = LIMIT / (length + 1e-6);
    norm[GRADIENT_NORM] = length;
    norm[FACTOR] = unscale == 0 ? 0 : length - length != 0 ? NAN : share > 1 ? unscale : share * unscale;
}

LAUNCHER void KERNEL(UnetLaunch at, double *norm, double *scratch, const real *g, const double *scale) {
    SIZES;
    static_assert(SCRATCH / (int)sizeof(double) >= BANDS, "a number for each block");
    LAUNCH_BLOCKS(at, KERNEL_look, BANDS, scratch, g);
    LAUNCH_BLOCKS(at, KERNEL_finish, 1, norm, scratch, scale);
}
/* END */
