/* wgrad_end.c - brings the sums of conv_wgrad.c into PyTorch's order: the gradients of a convolution, or of
 * a TRANSPOSED one, by its weights and its bias. */
#include "prologue.c"

#define KERNEL wgrad_end
#define AT_RUN_TIME RING, BIAS, SEGMENTS, CI, CO, KD, KH, KW
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict dw, real *restrict db, const real *restrict sums) {
    SIZES;
    const long taps = (long)KD * KH * KW;
    weights_spread(dw, BIAS ? db : NULL, sums, X, SEGMENTS, CO, taps, TRANSPOSED ? taps : CI * taps,
                   TRANSPOSED ? CO * taps : taps, BLOCK);
}
/* END */
