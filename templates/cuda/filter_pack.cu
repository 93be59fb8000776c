/* filter_pack.cu - filters for cuDNN from dense weights: for each segment [filter][tap][channel], both
 * padded with zeros; behind them the bias, padded too. */
#include "prologue.cuh"

#define KERNEL filter_pack
#include "../example_cuda.h"

/* BEGIN */
/* All taps of vector i of filter f, which come from neighbouring weights. */
DEVICE void KERNEL_taps(stored *__restrict__ packed, const real *__restrict__ w, Filter f, unsigned i) {
    SIZES;
    const int columns = f.cp / LANES, k = i / columns, c = i % columns * LANES;
    const real *from = w + ((long)(f.k0 + k) * C + f.c0 + c) * TAPS;
    for (int tap = 0; tap < TAPS; tap++) {
        Vector v;
        for (int l = 0; l < LANES; l++)
            v.lane[l] = k < f.kn && c + l < f.cn ? from[l * TAPS + tap] : 0;
        store_vector(packed + f.offset, (k * TAPS + tap) * columns + c / LANES, v);
    }
}

static __global__ void KERNEL_vectors(stored *__restrict__ packed, const real *__restrict__ w,
                                      const real *__restrict__ b) {
    SIZES;
    unsigned i = thread_index();
#pragma unroll
    for (int s = 0; s < SEGMENTS; s++) {
        const unsigned count = FILTER[s].kp * (FILTER[s].cp / LANES);
        if (i < count) {
            KERNEL_taps(packed, w, FILTER[s], i);
            return;
        }
        i -= count;
    }
    if (BIAS && (int)i < PBIAS)
        store(packed, BIAS_AT + i, (int)i < K ? b[i] : 0);
}

LAUNCHER void KERNEL(UnetLaunch at, stored *packed, const real *w, const real *b) {
    SIZES;
    unsigned count = BIAS ? PBIAS : 0;
    for (int s = 0; s < SEGMENTS; s++)
        count += FILTER[s].kp * (FILTER[s].cp / LANES);
    LAUNCH(at, KERNEL_vectors, blocks_for(count), packed, w, b);
}
/* END */
