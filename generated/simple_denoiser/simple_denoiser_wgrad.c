/* simple_denoiser_wgrad.c - conv_wgrad
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */

/* conv_wgrad - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias.
 *
 * A window slides over x, and its positions are the points of dy; TRANSPOSED, it slides over dy, and they
 * are the points of x. The rows of a tile are input channels, its lanes output channels, and it sums over
 * positions. `sums` has them, as far as rows and samples have come; without it `scratch` does, and they are
 * brought into PyTorch's order in the end. For how sums lie, see wgrad.c.
 *
 * A sum runs through the rows in order, and one thread computes it: threads share out taps, blocks of x and
 * vectors of dy. So its bits depend neither on the threads nor on which rows a call computes. */
#ifdef CONV_WGRAD
/* The channels of an image that a tap, or a row of taps, meets have to be constants, and so do lanes. */
#define MET BLOCK_OF(CI) * (LW == 1 && !TRANSPOSED ? KW : 1)
NOINLINE void KERNEL(_pair)(const Tap *tap) {
    SIZES;
    EACH_TILE(MET, 1);
}

NOINLINE void KERNEL(_single)(const Tap *tap) {
    SIZES;
    EACH_TILE(MET, 0);
}
#undef MET

NOINLINE void KERNEL(_copy)(const Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap) {
    SIZES;
    gradients_copy(g, item, piece, r, tap, lanes(&DY, 0));
}

NOINLINE Vector KERNEL(_sum)(const Wgrad *g, const Item *item, int v, Point at) {
    SIZES;
    return row_sum(g, item, v, at, lanes(&DY, 0));
}

void KERNEL()(int n, Rows rows, real *restrict dw, real *restrict db, real *restrict scratch,
                          real *restrict sums, const stored *const *x, const stored *dy) {
    SIZES;
    enum {
        X_IS_IMAGE = BLOCK_OF(CI) < (int)BLOCK, /* of several segments one may be */
        DY_IS_IMAGE = BLOCK_OF(CO) < (int)BLOCK
    };
    static const Wgrad g = {.x = X,
                            .dy = &DY,
                            .segments = SEGMENTS,
                            .transposed = TRANSPOSED,
                            .bias = BIAS,
                            .accumulate = ACCUMULATE,
                            .channels = CI,
                            .outputs = CO,
                            .points = {D, H, W},
                            .positions = {TRANSPOSED ? ID : D, TRANSPOSED ? IH : H, TRANSPOSED ? IW : W},
                            .taps = {KD, KH, KW},
                            .stride = {SD, SH, SW},
                            .dilation = {LD, LH, LW},
                            .padding = {PD, PH, PW},
                            .image_pair = SEGMENTS > 1                    ? wgrad_rows_pair
                                          : X_IS_IMAGE && VECTORS(CO) > 1 ? KERNEL(_pair)
                                                                          : NULL,
                            .image_single = SEGMENTS > 1                        ? wgrad_rows_single
                                            : X_IS_IMAGE && VECTORS(CO) % 2 > 0 ? KERNEL(_single)
                                                                                : NULL,
                            .copy = DY_IS_IMAGE ? KERNEL(_copy) : wgrad_copy,
                            .sum = DY_IS_IMAGE ? KERNEL(_sum) : wgrad_row_sum};
    enum { WIDTH = TRANSPOSED ? IW : W, LONGEST = (int)WIDTH < (int)PIXELS ? (int)WIDTH : (int)PIXELS };
    enum { MET = TRANSPOSED ? LONGEST : (LONGEST - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real copies[STRIP(WIDTH) * (LONGEST * 2 * LANES + (SIXTEEN_BITS ? MET * BLOCK : 0))];
    wgrad(&g, n, rows, dw, db, scratch, sums, x, dy, copies);
}
#undef CONV_WGRAD
#endif
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"
#include "simple_denoiser_wgrad.h"

/* conv_wgrad: net.6 of train: net.5[n,64,64,64] d net.6[n,3,64,64] -> d net.6.weight[3,64,3,3]
    d net.6.bias[3] net.6 scratch[9232] */
#define CONV_WGRAD
#define KERNEL(part) simple_denoiser_conv_wgrad_0##part
#define SIZES \
    enum { CI = 64, CO = 3, ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, \
        KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, TRANSPOSED = 0, BIAS = 1, \
        ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{64, 16, 4, 1072, 278784, 69696, 69696, 1056, 0}}, \
        DY = {3, 3, 1, 201, 13072, 13068, 13068, 198, 0}
#include "simple_denoiser_wgrad.c"

/* conv_wgrad: net.0 of train: noisy cast[n,3,64,64] d net.0[n,64,64,64] -> d net.0.weight[64,3,3,3]
    d net.0.bias[64] net.0 scratch[1792] */
#define CONV_WGRAD
#define KERNEL(part) simple_denoiser_conv_wgrad_1##part
#define SIZES \
    enum { CI = 3, CO = 64, ID = 1, IH = 64, IW = 64, D = 1, H = 64, W = 64, KD = 1, SD = 1, LD = 1, PD = 0, \
        KH = 3, SH = 1, LH = 1, PH = 1, KW = 3, SW = 1, LW = 1, PW = 1, TRANSPOSED = 0, BIAS = 1, \
        ACCUMULATE = 1, SEGMENTS = 1 }; \
    UNUSED static const Layout X[1] = {{3, 3, 1, 201, 13072, 13068, 13068, 198, 0}}, \
        DY = {64, 16, 4, 0, 262144, 65536, 65536, 1024, 0}
#include "simple_denoiser_wgrad.c"

#endif
