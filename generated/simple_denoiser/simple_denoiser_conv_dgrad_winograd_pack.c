/* simple_denoiser_conv_dgrad_winograd_pack.c - the frequencies of the weights of a convolution, for its gradient by one
 * segment of its input.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(real *restrict packed, const real *restrict w) {
    SIZES;
    const Dense from = {.w = w + C0 * 9L, .lane = 9, .channel = CI * 9L, .lanes = CS, .flipped = 1};
    winograd_weights((Frequency *)packed, from, vectors(&DX), &DY, 1);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_winograd.h"

/* conv_dgrad_winograd_pack: net.4 of train, net.2 of train: net.4.weight[64,64,3,3]
    -> net.4 weights[148032] */
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_pack_0##part
#define SIZES \
    enum { CI = 64, C0 = 0, CS = 64 }; \
    UNUSED static const Layout DX = {0, 16, 4, 0, 0, 0, 0, 0, 0}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_conv_dgrad_winograd_pack.c"

#endif
