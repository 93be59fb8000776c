/* dropout.c - elements that are dropped by chance become zero, and the others so much larger that the mean
 * stays. BY_CHANNEL: all points of a channel together. A NaN stays one.
 *
 * The numbers follow from the seed, the step, the sample and the operator, and from the place of the
 * element in its sample: no plan, target or number of threads changes them. */
#include "prologue.c"

#define KERNEL dropout
#include "../example.h"

/* BEGIN */
/* Spreads all bits of x over the result. */
UNUSED static uint64_t KERNEL_mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The key that tells the random numbers of a sample from all others. */
UNUSED static uint64_t KERNEL_key(uint64_t seed, int64_t step, int sample) {
    SIZES;
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const uint64_t of_step = KERNEL_mixed(KERNEL_mixed(seed + odd) + (uint64_t)step * odd);
    return KERNEL_mixed(KERNEL_mixed(of_step + (uint64_t)NUMBER * odd) + (uint64_t)sample * odd);
}

UNUSED static uint32_t KERNEL_hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A number for each point; the numbers of its channels are made from it. */
UNUSED static uint32_t KERNEL_at(uint64_t key, uint32_t point) {
    SIZES;
    return KERNEL_hash((BY_CHANNEL ? 0 : point) ^ (uint32_t)key) ^ (uint32_t)(key >> 32);
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, stored *y,
                          const stored *x) {
    SIZES;
    const uint32_t dropped = (uint32_t)(RATE * 4294967296.0);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const uint64_t key = KERNEL_key(seed, step, start + i);
                    const uint32_t point = KERNEL_at(key, (uint32_t)r * (uint32_t)W + (uint32_t)p);
                    const uint32_t number = KERNEL_hash((uint32_t)c * 0x9e3779b9u + point);
                    const real factor = number >= dropped ? (real)(1 / (1 - RATE)) : 0;
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load(x, element(&X, i, c, r / H, r % H, p)) * factor : 0);
                }
}
/* END */
