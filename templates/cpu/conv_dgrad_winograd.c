/* conv_dgrad_winograd.c - gradient of a convolution with a 3x3 window by one segment of its input, by
 * Winograd's method: a convolution of dy with windows that run backwards. */
#include "winograd.c"

#define KERNEL conv_dgrad_winograd
#define AT_RUN_TIME RING, TILES, MASK, CS, PH, PW, ID, IH, IW, H, PHASE
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, real *restrict workspace, const stored *dy,
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
/* END */
