/* simple_denoiser_conv_dgrad_pack.c - brings the weights of a convolution, or of a TRANSPOSED one, into the order in which
 * the tiles of its gradient by one segment want them: [pair of vectors of CS][block of CO, tap, slot of
 * channels of the block][vector of the pair][lane][channel of the slot].
 *
 * Made by unetc from simple_denoiser.unet (00438fdc504441cc) with: --size=64x64
 * Do not edit: change the .unet file and compile again. */
#ifdef KERNEL /* the body, which the rest includes once for each set of sizes */
/* The weights between vector v of CS and an element of what a tap and `together` - 1 behind it meet in a
 * block of CO. */
INLINE Vector KERNEL(_weights)(const real *w, int v, int block, int tap, int element, int together) {
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

void KERNEL()(real *restrict packed, const real *restrict w) {
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
                    store_real(to, factors_of(KERNEL(_weights)(w, v, block, tap, e, together),
                                              KERNEL(_weights)(w, v, block, tap, e + 1, together)));
    }
}
#undef KERNEL
#undef SIZES
#else
#include "simple_denoiser_plan.h"

/* conv_dgrad_pack: net.6 of train: net.6.weight[3,64,3,3] -> net.6 weights[1728] */
#define KERNEL(part) simple_denoiser_conv_dgrad_pack_0##part
#define SIZES \
    enum { CI = 64, CO = 3, KD = 1, KH = 3, KW = 3, SW = 1, LW = 1, C0 = 0, CS = 64, TRANSPOSED = 0 }; \
    UNUSED static const Layout DX = {0, 16, 4, 0, 0, 0, 0, 0, 0}, DY = {0, 3, 1, 0, 0, 0, 0, 0, 0}
#include "simple_denoiser_conv_dgrad_pack.c"

#endif
