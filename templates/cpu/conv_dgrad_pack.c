/* conv_dgrad_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which
 * the tiles of its gradient by one segment want them: [pair of vectors of CS][block of CO, tap, channel of
 * the block][vector of the pair][lane]. */
#include "prologue.c"

#define KERNEL conv_dgrad_pack
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const long taps = KD * KH * KW, depth = stored_channels(&DY, 1) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&DX); v++) {
        const int width = (v | 1) < vectors(&DX) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int block = 0; block < DY.blocks; block++)
            for (int tap = 0; tap < taps; tap++)
                for (int k = 0; k < DY.block; k++, to += width) {
                    for (int lane = 0; lane < LANES; lane++) {
                        long c = v * LANES + lane, co = block * DY.block + k;
                        int real_weight = co < CO && c < CS;
                        long at = TRANSPOSED ? (C0 + c) * CO + co : co * CI + C0 + c;
                        to[lane] = real_weight ? w[at * taps + tap] : 0;
                    }
                    if (SIXTEEN_BITS)
                        store_real(to, rounded(load_real(to)));
                }
    }
}
/* END */
