/* wgrad_end_winograd.c - takes the sums of a sample at the frequencies (conv_wgrad_winograd.c) back to
 * gradients by weights and a bias, in PyTorch's order; ACCUMULATE: added to what dw and db hold. `scratch`
 * has them in the order of the tiles. */
#include "winograd_gradients.c"

#define KERNEL wgrad_end_winograd
#define AT_RUN_TIME RING, BIAS, ACCUMULATE, SEGMENTS, CI, CO, KD
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict dw, real *restrict db, real *restrict scratch, real *sums) {
    SIZES;
    const Gradients g = {.to = &DY,
                         .blocks = (int)(stored_channels(X, SEGMENTS) / BLOCK),
                         .bias = BIAS,
                         .taps = KD > 1 ? KD : 0,
                         .sums = sums,
                         .total = scratch};
    if (ACCUMULATE)
        weights_gather(scratch, dw, BIAS ? db : NULL, X, SEGMENTS, &DY, KD * 9, CI * KD * 9, KD * 9, 1);
    gradients_finish(&g, ACCUMULATE);
    weights_spread(dw, BIAS ? db : NULL, scratch, X, SEGMENTS, CO, KD * 9, CI * KD * 9, KD * 9, 1);
}
/* END */
