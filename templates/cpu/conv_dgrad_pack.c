/* conv_dgrad_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which
 * the tiles of its gradient by one segment want them. */
#include "prologue.c"

#define KERNEL conv_dgrad_pack
#define AT_RUN_TIME RING, CI, CO, CS, C0, KD, KH, KW, SW, LW
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const Packing p = {.from = &DY,
                       .to = &DX,
                       .segments = 1,
                       .count = CS,
                       .slides = TRANSPOSED,
                       .taps = KD * KH * KW,
                       .first = TRANSPOSED ? (long)C0 * CO : C0,
                       .written = TRANSPOSED ? CO : 1,
                       .read = TRANSPOSED ? 1 : CI,
                       .row = {KW, SW, LW}};
    weights_pack(&p, packed, w);
}
/* END */
