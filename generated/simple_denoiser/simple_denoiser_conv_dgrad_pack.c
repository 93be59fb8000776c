/* simple_denoiser_conv_dgrad_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which
 * the tiles of its gradient by one segment want them.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(const simple_denoiser_conv_dgrad_pack_sizes *sizes, real *restrict packed, const real *restrict w) {
    SIZES;
    const Packing p = {.from = &DY,
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

/* conv_dgrad_pack with simple_denoiser_conv_dgrad_pack_sizes_0 */
#define KERNEL(part) simple_denoiser_conv_dgrad_pack_0##part
#define SIZES \
    enum { TRANSPOSED = 0 }; \
    UNUSED const int CI = sizes->CI, CO = sizes->CO, KD = sizes->KD, KH = sizes->KH, KW = sizes->KW, \
        SW = sizes->SW, LW = sizes->LW, C0 = sizes->C0, CS = sizes->CS; \
    UNUSED const Layout DX = LAYOUT_OF(sizes->DX, 16, sizes->DX.ring), \
        DY = LAYOUT_OF(sizes->DY, 3, sizes->DY.ring)
#include "simple_denoiser_conv_dgrad_pack.c"

#endif
