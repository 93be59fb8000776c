/* conv_winograd_volume.c - convolution with a 3x3x3 window by Winograd's method, with bias and ReLU; as
 * conv_winograd.c, of all rows. */
#include "winograd_volumes.c"

#define KERNEL conv_winograd_volume
#define AT_RUN_TIME RING, TILES, PLANES, BIAS, RELU, SEGMENTS, CO, KD, PD, PH, PW, ID, IH, D, H, W, PHASE
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
                        .window = {IH, PH, PW},
                        .taps = KD,
                        .front = PD,
                        .planes = ID};
    if (OWN_BLOCKS)
        winograd_columns(&c, workspace, TILES);
    else
        winograd_parts(&c, workspace, TILES, PLANES);
}
/* END */
