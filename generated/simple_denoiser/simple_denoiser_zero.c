/* simple_denoiser_zero.c - where a sum over the samples starts.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(void *sum, size_t bytes) {
#pragma omp single
    memset(sum, 0, bytes);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* zero: mse of train, psnr of train, net.6 of train, 7 more: -> mse[1] */
#define KERNEL(part) simple_denoiser_zero_0##part
#include "simple_denoiser_zero.c"

#endif
