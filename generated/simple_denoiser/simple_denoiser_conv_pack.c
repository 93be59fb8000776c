/* simple_denoiser_conv_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which its
 * tiles want them.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(const simple_denoiser_conv_pack_sizes *sizes, real *restrict packed, const real *restrict w) {
    SIZES;
    const Packing p = {.from = X,
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

/* conv_pack with simple_denoiser_conv_pack_sizes_0 */
#define KERNEL(part) simple_denoiser_conv_pack_0##part
#define SIZES \
    enum { TRANSPOSED = 0 }; \
    UNUSED const int CI = sizes->CI, CO = sizes->CO, KD = sizes->KD, KH = sizes->KH, KW = sizes->KW, \
        SW = sizes->SW, LW = sizes->LW, SEGMENTS = sizes->SEGMENTS; \
    UNUSED const Layout X[1] = {LAYOUT_OF(sizes->X[0], 3, sizes->X[0].ring)}, \
        Y = LAYOUT_OF(sizes->Y, 16, sizes->Y.ring)
#include "simple_denoiser_conv_pack.c"

/* conv_pack with simple_denoiser_conv_pack_sizes_1 */
#define KERNEL(part) simple_denoiser_conv_pack_1##part
#define SIZES \
    enum { TRANSPOSED = 0 }; \
    UNUSED const int CI = sizes->CI, CO = sizes->CO, KD = sizes->KD, KH = sizes->KH, KW = sizes->KW, \
        SW = sizes->SW, LW = sizes->LW, SEGMENTS = sizes->SEGMENTS; \
    UNUSED const Layout X[1] = {LAYOUT_OF(sizes->X[0], 16, sizes->X[0].ring)}, \
        Y = LAYOUT_OF(sizes->Y, 3, sizes->Y.ring)
#include "simple_denoiser_conv_pack.c"

#endif
