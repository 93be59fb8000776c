/* simple_denoiser_conv_winograd_pack.c - the frequencies of the weights of a convolution.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(real *restrict packed, const real *restrict w) {
    SIZES;
    winograd_weights((Frequency *)packed, (Dense){.w = w, .lane = CI * 9L, .channel = 9, .lanes = CO},
                     vectors(&Y), X, SEGMENTS);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_winograd.h"

/* conv_winograd_pack: net.2 of train, net.4 of train, net.2 of predict, 1 more: net.2.weight[64,64,3,3]
    -> net.2 weights[148032] */
#define KERNEL(part) simple_denoiser_conv_winograd_pack_0##part
#define SIZES \
    enum { CI = 64, CO = 64, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        Y = {0, 16, 4, 0, 0, 0, 0, 0, 0}
#include "simple_denoiser_conv_winograd_pack.c"

#endif
