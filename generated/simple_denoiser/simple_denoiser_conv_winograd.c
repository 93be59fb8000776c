/* simple_denoiser_conv_winograd.c - convolution with a 3x3 window by Winograd's method, with bias and ReLU, and, where
 * `pooled` is there, the maxima of each 2x2 points of y.
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
void KERNEL()(int n, Rows rows, stored *restrict y, real *restrict workspace,
                          stored *restrict pooled, const stored *const *x, const real *w, const real *b) {
    SIZES;
    (void)rows;
    const Winograd c = {.x = x,
                        .from = X,
                        .segments = SEGMENTS,
                        .weights = (const Frequency *)w,
                        .bias = BIAS ? b : NULL,
                        .to = &Y,
                        .pooled_layout = &POOLED,
                        .y = y,
                        .pooled = pooled,
                        .relu = RELU,
                        .channels = CO,
                        .grid = grid(D, H, W, PHASE, rows),
                        .samples = n,
                        .window = {IH, PH, PW}};
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

/* conv_winograd: net.2 of train, net.4 of train, net.2 of predict, 1 more: net.1[n,64,64,64]
    net.2 weights[148032] net.2.bias[64] -> net.3[n,64,64,64] net.2 workspace[903168] */
#define KERNEL(part) simple_denoiser_conv_winograd_0##part
#define SIZES \
    enum { CO = 64, IH = 64, D = 1, H = 64, W = 64, PH = 1, PW = 1, BIAS = 1, RELU = 1, TILES = 16, \
        OWN_BLOCKS = 1, PHASE = 0, SEGMENTS = 1 }; \
    UNUSED static const Layout POOLED = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_conv_winograd.c"

#endif
