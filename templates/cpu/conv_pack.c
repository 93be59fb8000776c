/* conv_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which its
 * tiles want them: [pair of vectors of CO][channel block, tap, channel of the block][vector of the
 * pair][lane]. */
#include "prologue.c"

#define KERNEL conv_pack
#define X_IS_SEGMENTS
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(real *restrict packed, const real *restrict w) {
    SIZES;
    const long taps = KD * KH * KW, depth = stored_channels(X, SEGMENTS) * taps;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&Y); v++) {
        const int width = (v | 1) < vectors(&Y) ? 2 * LANES : LANES;
        real *to = packed + (v & ~1) * LANES * depth + (v & 1) * LANES;
        for (int s = 0, first = 0; s < SEGMENTS; first += X[s].channels, s++)
            for (int block = 0; block < X[s].blocks; block++)
                for (int tap = 0; tap < taps; tap++)
                    for (int k = 0; k < X[s].block; k++, to += width) {
                        for (int lane = 0; lane < LANES; lane++) {
                            long co = v * LANES + lane, c = block * X[s].block + k;
                            int real_weight = co < CO && c < X[s].channels;
                            long at = TRANSPOSED ? (first + c) * CO + co : co * CI + first + c;
                            to[lane] = real_weight ? w[at * taps + tap] : 0;
                        }
                        if (SIXTEEN_BITS)
                            store_real(to, rounded(load_real(to)));
                    }
    }
}
/* END */
