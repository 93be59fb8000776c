/* conv_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which its
 * tiles want them: [pair of vectors of CO][channel block, tap, slot of channels of the block][vector of the
 * pair][lane][channel of the slot]. */
#include "prologue.c"

#define KERNEL conv_pack
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
/* The weights between vector v of CO and an element of what a tap and `together` - 1 behind it meet in a
 * block of segment s, whose first channel is number `first` of all. */
INLINE Vector KERNEL_weights(const real *w, int v, int s, int first, int block, int tap, int element,
                             int together) {
    SIZES;
    Vector weights = {0};
    const int c = block * X[s].block + element % X[s].block;
    for (int lane = 0; lane < LANES; lane++) {
        const long co = v * LANES + lane,
                   at = TRANSPOSED ? (first + c) * (long)CO + co : co * CI + first + c;
        if (co < CO && c < X[s].channels && element < together * X[s].block)
            weights[lane] = w[at * (KD * KH * KW) + tap + element / X[s].block];
    }
    return weights;
}

UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&Y); v++) {
        const int width = (v | 1) < vectors(&Y) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int block = 0; block < X[s].blocks; block++) {
                const int together = TRANSPOSED ? 1 : taps_together(X[s].block, (Taps){KW, SW, LW});
                for (int tap = 0; tap < taps; tap += together)
                    for (int e = 0; e < together * X[s].block; e += FACTORS, to += width)
                        store_real(to,
                                   factors_of(KERNEL_weights(w, v, s, first, block, tap, e, together),
                                              KERNEL_weights(w, v, s, first, block, tap, e + 1, together)));
            }
    }
}
/* END */
