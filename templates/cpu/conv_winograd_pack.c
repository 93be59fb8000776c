/* conv_winograd_pack.c - the frequencies of the weights of a convolution. */
#include "winograd.c"

#define KERNEL conv_winograd_pack
#define AT_RUN_TIME RING, SEGMENTS, CI, CO, KD
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    winograd_weights((Frequency *)packed,
                     (Dense){.w = w, .lane = CI * KD * 9L, .channel = KD * 9, .lanes = CO}, vectors(&Y), X,
                     SEGMENTS, KD);
}
/* END */
