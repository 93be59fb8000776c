/* conv_dgrad_winograd_pack.c - the frequencies of the weights of a convolution, for its gradient by one
 * segment of its input. */
#include "winograd.c"

#define KERNEL conv_dgrad_winograd_pack
#define AT_RUN_TIME RING, CI, CS, C0, KD
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const Dense from = {
        .w = w + C0 * KD * 9L, .lane = KD * 9, .channel = CI * KD * 9L, .lanes = CS, .flipped = 1};
    winograd_weights((Frequency *)packed, from, vectors(&DX), &DY, 1, KD);
}
/* END */
