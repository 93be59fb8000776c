/* simple_denoiser_winograd_gradients.c - conv_wgrad_winograd
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */

/* conv_wgrad_winograd - gradients of a convolution with a 3x3 window by its weights and its bias, by
 * Winograd's method. The gradient of a sample is summed at the 36 frequencies, taken back, and added to
 * the gradient of the samples before, which lies at the end of `scratch` until it is brought into PyTorch's
 * order.
 *
 * Ranges of rows are for one sample, and come in order: the sums at the frequencies stay in `scratch` from
 * the one that begins at row 0 to the one that ends the sample. With `sums` they stay there, and
 * wgrad_end_winograd.c takes them back. */
#ifdef CONV_WGRAD_WINOGRAD
void KERNEL()(const simple_denoiser_conv_wgrad_winograd_sizes *sizes, int n, Rows rows, real *restrict dw, real *restrict db, real *restrict scratch,
                          real *restrict sums, const stored *const *x, const stored *dy) {
    SIZES;
    const int brings = sums == NULL, ends = brings && rows.end == D * H;
    if (rows.begin == rows.end)
        return;
    const int blocks = (int)(stored_channels(X, SEGMENTS) / BLOCK);
    const Strides in = frequency_strides(TILES, blocks, FREQUENCY_GAP),
                  out = frequency_strides(TILES, DY.blocks, FREQUENCY_GAP);
    Gradients g = {.x = x,
                   .dy = dy,
                   .from = X,
                   .to = &DY,
                   .blocks = blocks,
                   .bias = BIAS,
                   .grid = paired_grid(D, H, W, PHASE, rows),
                   .window = {IH, PH, PW},
                   .in_strides = in,
                   .out_strides = out};
    real *dy_frequencies = scratch + planes_size(in);
    g.in = (Frequency *)scratch;
    g.out = (Frequency *)dy_frequencies;
    g.tile_sums = dy_frequencies + planes_size(out);
    g.sums = brings ? g.tile_sums + out.frequency : sums;
    g.total = g.sums + frequency_sums(blocks, 1, &DY, BIAS);
    if (ACCUMULATE && ends)
        weights_gather(g.total, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, 9, CI * 9, 9, 1);
    for (int i = 0; i < n; i++) {
        winograd_gradients(&g, i, TILES);
        if (ends)
            gradients_finish(&g, ACCUMULATE || i > 0);
    }
    if (ends)
        weights_spread(dw, BIAS ? db : NULL, g.total, X, SEGMENTS, CO, 9, CI * 9, 9, 1);
}
#undef CONV_WGRAD_WINOGRAD
#endif
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_winograd_gradients.h"

/* conv_wgrad_winograd with simple_denoiser_conv_wgrad_winograd_sizes_0 */
#define CONV_WGRAD_WINOGRAD
#define KERNEL(part) simple_denoiser_conv_wgrad_winograd_0##part
#define SIZES \
    UNUSED const int CI = sizes->CI, CO = sizes->CO, IH = sizes->IH, D = sizes->D, H = sizes->H, \
        W = sizes->W, PH = sizes->PH, PW = sizes->PW, BIAS = sizes->BIAS, TILES = sizes->TILES, \
        PHASE = sizes->PHASE, ACCUMULATE = sizes->ACCUMULATE, SEGMENTS = sizes->SEGMENTS; \
    UNUSED const Layout X[1] = {LAYOUT_OF(sizes->X[0], 16, sizes->X[0].ring)}, \
        DY = LAYOUT_OF(sizes->DY, 16, sizes->DY.ring)
#include "simple_denoiser_winograd_gradients.c"

#endif
