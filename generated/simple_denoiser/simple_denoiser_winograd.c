/* simple_denoiser_winograd.c - conv_winograd_pack, conv_dgrad_winograd_pack, conv_winograd, conv_dgrad_winograd
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */

/* conv_winograd_pack - the frequencies of the weights of a convolution. */
#ifdef CONV_WINOGRAD_PACK
void KERNEL()(const simple_denoiser_conv_winograd_pack_sizes *sizes, real *restrict packed, const real *restrict w) {
    SIZES;
    winograd_weights((Frequency *)packed,
                     (Dense){.w = w, .lane = CI * KD * 9L, .channel = KD * 9, .lanes = CO}, vectors(&Y), X,
                     SEGMENTS, KD);
}
#undef CONV_WINOGRAD_PACK
#endif

/* conv_dgrad_winograd_pack - the frequencies of the weights of a convolution, for its gradient by one
 * segment of its input. */
#ifdef CONV_DGRAD_WINOGRAD_PACK
void KERNEL()(const simple_denoiser_conv_dgrad_winograd_pack_sizes *sizes, real *restrict packed, const real *restrict w) {
    SIZES;
    const Dense from = {
        .w = w + C0 * KD * 9L, .lane = KD * 9, .channel = CI * KD * 9L, .lanes = CS, .flipped = 1};
    winograd_weights((Frequency *)packed, from, vectors(&DX), &DY, 1, KD);
}
#undef CONV_DGRAD_WINOGRAD_PACK
#endif

/* conv_winograd - convolution with a 3x3 window by Winograd's method, with bias and ReLU, and, where
 * `pooled` is there, the maxima of each 2x2 points of y. */
#ifdef CONV_WINOGRAD
void KERNEL()(const simple_denoiser_conv_winograd_sizes *sizes, int n, Rows rows, stored *restrict y, real *restrict workspace,
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
#undef CONV_WINOGRAD
#endif

/* conv_dgrad_winograd - gradient of a convolution with a 3x3 window by one segment of its input, by
 * Winograd's method: a convolution of dy with windows that run backwards. */
#ifdef CONV_DGRAD_WINOGRAD
void KERNEL()(const simple_denoiser_conv_dgrad_winograd_sizes *sizes, int n, Rows rows, stored *restrict dx, real *restrict workspace, const stored *dy,
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
#undef CONV_DGRAD_WINOGRAD
#endif
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_winograd.h"

/* conv_winograd_pack with simple_denoiser_conv_winograd_pack_sizes_0 */
#define CONV_WINOGRAD_PACK
#define KERNEL(part) simple_denoiser_conv_winograd_pack_0##part
#define SIZES \
    UNUSED const int CI = sizes->CI, CO = sizes->CO, KD = sizes->KD, SEGMENTS = sizes->SEGMENTS; \
    UNUSED const Layout X[1] = {LAYOUT_OF(sizes->X[0], 16, sizes->X[0].ring)}, \
        Y = LAYOUT_OF(sizes->Y, 16, sizes->Y.ring)
#include "simple_denoiser_winograd.c"

/* conv_dgrad_winograd_pack with simple_denoiser_conv_dgrad_winograd_pack_sizes_0 */
#define CONV_DGRAD_WINOGRAD_PACK
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_pack_0##part
#define SIZES \
    UNUSED const int CI = sizes->CI, KD = sizes->KD, C0 = sizes->C0, CS = sizes->CS; \
    UNUSED const Layout DX = LAYOUT_OF(sizes->DX, 16, sizes->DX.ring), \
        DY = LAYOUT_OF(sizes->DY, 16, sizes->DY.ring)
#include "simple_denoiser_winograd.c"

/* conv_winograd with simple_denoiser_conv_winograd_sizes_0 */
#define CONV_WINOGRAD
#define KERNEL(part) simple_denoiser_conv_winograd_0##part
#define SIZES \
    enum { OWN_BLOCKS = 1 }; \
    UNUSED const int CO = sizes->CO, IH = sizes->IH, D = sizes->D, H = sizes->H, W = sizes->W, \
        PH = sizes->PH, PW = sizes->PW, BIAS = sizes->BIAS, RELU = sizes->RELU, TILES = sizes->TILES, \
        PHASE = sizes->PHASE, SEGMENTS = sizes->SEGMENTS; \
    UNUSED const Layout POOLED = LAYOUT_OF(sizes->POOLED, 16, sizes->POOLED.ring), \
        X[1] = {LAYOUT_OF(sizes->X[0], 16, sizes->X[0].ring)}, Y = LAYOUT_OF(sizes->Y, 16, sizes->Y.ring)
#include "simple_denoiser_winograd.c"

/* conv_dgrad_winograd with simple_denoiser_conv_dgrad_winograd_sizes_0, simple_denoiser_conv_dgrad_winograd_sizes_1 */
#define CONV_DGRAD_WINOGRAD
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_0##part
#define SIZES \
    enum { OWN_BLOCKS = 1 }; \
    UNUSED const int ID = sizes->ID, IH = sizes->IH, IW = sizes->IW, H = sizes->H, PH = sizes->PH, \
        PW = sizes->PW, CS = sizes->CS, MASK = sizes->MASK, TILES = sizes->TILES, PHASE = sizes->PHASE; \
    UNUSED const Layout DX = LAYOUT_OF(sizes->DX, 16, sizes->DX.ring), \
        DY = LAYOUT_OF(sizes->DY, 16, sizes->DY.ring), M = LAYOUT_OF(sizes->M, 16, sizes->M.ring)
#include "simple_denoiser_winograd.c"

#endif
