/* conv_wgrad.c - gradients of a convolution, or of a TRANSPOSED one, by its weights and its bias.
 *
 * A window slides over x, and its positions are the points of dy; TRANSPOSED, it slides over dy, and they
 * are the points of x. The rows of a tile are input channels, its lanes output channels, and it sums over
 * positions. `sums` has them, as far as rows and samples have come; without it `scratch` does, and they are
 * brought into PyTorch's order in the end. For how sums lie, see wgrad.c.
 *
 * A sum runs through the rows in order, and one thread computes it: threads share out taps, blocks of x and
 * vectors of dy. So its bits depend neither on the threads nor on which rows a call computes. */
#include "wgrad.c"

#define KERNEL conv_wgrad
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* The channels of an image that a tap, or a row of taps, meets have to be constants, and so do lanes. */
#define MET BLOCK_OF(CI) * (LW == 1 && !TRANSPOSED ? KW : 1)
NOINLINE void KERNEL_pair(const Tap *tap) {
    SIZES;
    EACH_TILE(MET, 1);
}

NOINLINE void KERNEL_single(const Tap *tap) {
    SIZES;
    EACH_TILE(MET, 0);
}
#undef MET

NOINLINE void KERNEL_copy(const Wgrad *g, const Item *item, const Piece *piece, int r, Axes tap) {
    SIZES;
    gradients_copy(g, item, piece, r, tap, lanes(&DY, 0));
}

NOINLINE Vector KERNEL_sum(const Wgrad *g, const Item *item, int v, Point at) {
    SIZES;
    return row_sum(g, item, v, at, lanes(&DY, 0));
}

UNUSED static void KERNEL(int n, Rows rows, real *restrict dw, real *restrict db, real *restrict scratch,
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
                                          : X_IS_IMAGE && VECTORS(CO) > 1 ? KERNEL_pair
                                                                          : NULL,
                            .image_single = SEGMENTS > 1                        ? wgrad_rows_single
                                            : X_IS_IMAGE && VECTORS(CO) % 2 > 0 ? KERNEL_single
                                                                                : NULL,
                            .copy = DY_IS_IMAGE ? KERNEL_copy : wgrad_copy,
                            .sum = DY_IS_IMAGE ? KERNEL_sum : wgrad_row_sum};
    enum { WIDTH = TRANSPOSED ? IW : W, LONGEST = (int)WIDTH < (int)PIXELS ? (int)WIDTH : (int)PIXELS };
    enum { MET = TRANSPOSED ? LONGEST : (LONGEST - 1) * SW + (KW - 1) * LW + 1 };
    _Alignas(64) real copies[COPIES(WIDTH, LONGEST, MET, TRANSPOSED ? 1 : SW)];
#ifdef MATRICES
    memset(copies, 0, sizeof copies); /* numbers that are multiplied with zeros are numbers */
#endif
    wgrad(&g, n, rows, dw, db, scratch, sums, x, dy, copies);
}
/* END */
