/* conv_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which its
 * tiles want them. */
#include "prologue.c"

#define KERNEL conv_pack
#define AT_RUN_TIME RING, SEGMENTS, CI, CO, KD, KH, KW, SW, LW
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const Packing p = {.from = X,
                       .to = &Y,
                       .segments = SEGMENTS,
                       .count = CO,
                       .slides = !TRANSPOSED,
                       .taps = KD * KH * KW,
                       .written = TRANSPOSED ? 1 : CI,
                       .read = TRANSPOSED ? CO : 1,
                       .row = {KW, SW, LW}};
    weights_pack(&p, packed, w);
}
/* END */
