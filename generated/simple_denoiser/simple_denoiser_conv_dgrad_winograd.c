/* simple_denoiser_conv_dgrad_winograd.c - gradient of a convolution with a 3x3 window by one segment of its input, by
 * Winograd's method: a convolution of dy with windows that run backwards.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(int n, Rows rows, stored *restrict dx, real *restrict workspace, const stored *dy,
                          const real *w, const stored *m) {
    SIZES;
    (void)rows;
    const Winograd c = {.x = &dy,
                        .from = &DY,
                        .segments = 1,
                        .weights = (const Frequency *)w,
                        .mask = MASK ? m : NULL,
                        .mask_layout = &M,
                        .to = &DX,
                        .y = dx,
                        .channels = CS,
                        .grid = grid(ID, IH, IW, PHASE, rows),
                        .samples = n,
                        .window = {H, 2 - PH, 2 - PW}};
    if (OWN_BLOCKS)
        winograd_blocks(&c, workspace, TILES);
    else
        winograd_groups(&c, workspace, TILES);
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_winograd.h"

/* conv_dgrad_winograd: net.4 of train: d net.4[n,64,64,64] net.4 weights[148032] net.3[n,64,64,64]
    -> d net.2[n,64,64,64] net.4 workspace[903168] */
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_0##part
#define SIZES \
    enum { ID = 1, IH = 64, IW = 64, H = 64, PH = 1, PW = 1, CS = 64, MASK = 1, TILES = 16, OWN_BLOCKS = 1, \
        PHASE = 0 }; \
    UNUSED static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_conv_dgrad_winograd.c"

/* conv_dgrad_winograd: net.2 of train: d net.2[n,64,64,64] net.2 weights[148032] net.1[n,64,64,64]
    -> d net.0[n,64,64,64] net.2 workspace[903168] */
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_1##part
#define SIZES \
    enum { ID = 1, IH = 64, IW = 64, H = 64, PH = 1, PW = 1, CS = 64, MASK = 1, TILES = 16, OWN_BLOCKS = 1, \
        PHASE = 0 }; \
    UNUSED static const Layout DX = {64, 16, 4, 0, 262144, 65536, 65536, 1024, 0}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_conv_dgrad_winograd.c"

#endif
