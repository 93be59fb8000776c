/* conv_winograd.c - convolution with a 3x3 window by Winograd's method, with bias and ReLU, and, where
 * `pooled` is there, the maxima of each 2x2 points of y. */
#include "winograd.c"

#define KERNEL conv_winograd
#define AT_RUN_TIME RING, TILES, BIAS, RELU, SEGMENTS, CO, PH, PW, IH, D, H, W, PHASE
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, real *restrict workspace,
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
/* END */
