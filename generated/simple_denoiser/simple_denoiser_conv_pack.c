/* simple_denoiser_conv_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which its
 * tiles want them.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(real *restrict packed, const real *restrict w) {
    SIZES;
    static const Packing p = {.from = X,
                              .to = &Y,
                              .segments = SEGMENTS,
                              .count = CO,
                              .slides = !TRANSPOSED,
                              .taps = KD * KH * KW,
                              .written = TRANSPOSED ? 1 : CI,
                              .read = TRANSPOSED ? CO : 1,
                              .row = {KW, SW, LW}};
    weights_pack(&p, packed, w);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv_pack: net.0 of train, net.0 of eval, net.0 of predict: net.0.weight[64,3,3,3]
    -> net.0 weights[1728] */
#define KERNEL(part) simple_denoiser_conv_pack_0##part
#define SIZES \
    enum { CI = 3, CO = 64, KD = 1, KH = 3, KW = 3, SW = 1, LW = 1, TRANSPOSED = 0, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}}, \
        Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_conv_pack.c"

/* conv_pack: net.6 of train, net.6 of eval, net.6 of predict: net.6.weight[3,64,3,3]
    -> net.6 weights[9216] */
#define KERNEL(part) simple_denoiser_conv_pack_1##part
#define SIZES \
    enum { CI = 64, CO = 3, KD = 1, KH = 3, KW = 3, SW = 1, LW = 1, TRANSPOSED = 0, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        Y = {3, 3, 1, 0, 12288, 12288, 12288, 192, 0}
#include "simple_denoiser_conv_pack.c"

#endif
