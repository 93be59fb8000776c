/* conv_dgrad_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which
 * the tiles of its gradient by one segment want them: [pair of vectors of CS][block of CO, tap, slot of
 * channels of the block][vector of the pair][lane][channel of the slot]. */
#include "prologue.c"

#define KERNEL conv_dgrad_pack
#include "../example.h"

/* BEGIN */
/* The weights between vector v of CS and an element of what a tap and `together` - 1 behind it meet in a
 * block of CO. */
INLINE Vector KERNEL_weights(const real *w, int v, int block, int tap, int element, int together) {
    SIZES;
    Vector weights = {0};
    const int co = block * DY.block + element % DY.block;
    for (int lane = 0; lane < LANES; lane++) {
        const long c = v * LANES + lane, at = TRANSPOSED ? (C0 + c) * CO + co : co * (long)CI + C0 + c;
        if (co < CO && c < CS && element < together * DY.block)
            weights[lane] = w[at * (KD * KH * KW) + tap + element / DY.block];
    }
    return weights;
}

UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const long taps = KD * KH * KW, depth = stored_channels(&DY, 1) * taps;
    const int together = TRANSPOSED ? taps_together(DY.block, (Taps){KW, SW, LW}) : 1;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&DX); v++) {
        const int width = (v | 1) < vectors(&DX) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int block = 0; block < DY.blocks; block++)
            for (int tap = 0; tap < taps; tap += together)
                for (int e = 0; e < together * DY.block; e += FACTORS, to += width)
                    store_real(to, factors_of(KERNEL_weights(w, v, block, tap, e, together),
                                              KERNEL_weights(w, v, block, tap, e + 1, together)));
    }
}
/* END */
