/* simple_denoiser_conv_dgrad_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which
 * the tiles of its gradient by one segment want them.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(real *restrict packed, const real *restrict w) {
    SIZES;
    static const Packing p = {.from = &DY,
                              .to = &DX,
                              .segments = 1,
                              .count = CS,
                              .slides = TRANSPOSED,
                              .taps = KD * KH * KW,
                              .first = TRANSPOSED ? (long)C0 * CO : C0,
                              .written = TRANSPOSED ? CO : 1,
                              .read = TRANSPOSED ? 1 : CI,
                              .row = {KW, SW, LW}};
    weights_pack(&p, packed, w);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv_dgrad_pack: net.6 of train: net.6.weight[3,64,3,3] -> net.6 weights[1728] */
#define KERNEL(part) simple_denoiser_conv_dgrad_pack_0##part
#define SIZES \
    enum { CI = 64, CO = 3, KD = 1, KH = 3, KW = 3, SW = 1, LW = 1, C0 = 0, CS = 64, TRANSPOSED = 0 }; \
    UNUSED static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        DY = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}
#include "simple_denoiser_conv_dgrad_pack.c"

#endif
