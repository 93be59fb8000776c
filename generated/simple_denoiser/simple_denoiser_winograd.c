/* simple_denoiser_winograd.c - conv_winograd_pack, conv_dgrad_winograd_pack, conv_winograd, conv_dgrad_winograd
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */

/* conv_winograd_pack - the frequencies of the weights of a convolution. */
#ifdef CONV_WINOGRAD_PACK
void KERNEL()(real *restrict packed, const real *restrict w) {
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
void KERNEL()(real *restrict packed, const real *restrict w) {
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
#undef CONV_WINOGRAD
#endif

/* conv_dgrad_winograd - gradient of a convolution with a 3x3 window by one segment of its input, by
 * Winograd's method: a convolution of dy with windows that run backwards. */
#ifdef CONV_DGRAD_WINOGRAD
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
#undef CONV_DGRAD_WINOGRAD
#endif
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_winograd.h"

/* conv_winograd_pack: net.2 of train, net.4 of train, net.2 of eval, 3 more: net.2.weight[64,64,3,3]
    -> net.2 weights[148032] */
#define CONV_WINOGRAD_PACK
#define KERNEL(part) simple_denoiser_conv_winograd_pack_0##part
#define SIZES \
    enum { CI = 64, CO = 64, KD = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        Y = {0, 16, 4, 0, 0, 0, 0, 0, 0}
#include "simple_denoiser_winograd.c"

/* conv_dgrad_winograd_pack: net.4 of train, net.2 of train: net.4.weight[64,64,3,3]
    -> net.4 weights[148032] */
#define CONV_DGRAD_WINOGRAD_PACK
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_pack_0##part
#define SIZES \
    enum { CI = 64, KD = 1, C0 = 0, CS = 64 }; \
    UNUSED static const Layout DX = {0, 16, 4, 0, 0, 0, 0, 0, 0}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_winograd.c"

/* conv_winograd: net.2 of train, net.4 of train, net.2 of eval, 3 more: net.1[n,64,64,64]
    net.2 weights[148032] net.2.bias[64] -> net.3[n,64,64,64] net.2 workspace[903168] */
#define CONV_WINOGRAD
#define KERNEL(part) simple_denoiser_conv_winograd_0##part
#define SIZES \
    enum { CO = 64, IH = 64, D = 1, H = 64, W = 64, PH = 1, PW = 1, BIAS = 1, RELU = 1, TILES = 16, \
        OWN_BLOCKS = 1, PHASE = 0, SEGMENTS = 1 }; \
    UNUSED static const Layout POOLED = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        Y = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_winograd.c"

/* conv_dgrad_winograd: net.4 of train: d net.4[n,64,64,64] net.4 weights[148032] net.3[n,64,64,64]
    -> d net.2[n,64,64,64] net.4 workspace[903168] */
#define CONV_DGRAD_WINOGRAD
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_0##part
#define SIZES \
    enum { ID = 1, IH = 64, IW = 64, H = 64, PH = 1, PW = 1, CS = 64, MASK = 1, TILES = 16, OWN_BLOCKS = 1, \
        PHASE = 0 }; \
    UNUSED static const Layout DX = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_winograd.c"

/* conv_dgrad_winograd: net.2 of train: d net.2[n,64,64,64] net.2 weights[148032] net.1[n,64,64,64]
    -> d net.0[n,64,64,64] net.2 workspace[903168] */
#define CONV_DGRAD_WINOGRAD
#define KERNEL(part) simple_denoiser_conv_dgrad_winograd_1##part
#define SIZES \
    enum { ID = 1, IH = 64, IW = 64, H = 64, PH = 1, PW = 1, CS = 64, MASK = 1, TILES = 16, OWN_BLOCKS = 1, \
        PHASE = 0 }; \
    UNUSED static const Layout DX = {64, 16, 4, 0, 262144, 65536, 65536, 1024, 0}, \
        DY = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}, \
        M = {64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}
#include "simple_denoiser_winograd.c"

#endif
