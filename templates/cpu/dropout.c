/* dropout.c - elements that are dropped by chance become zero, and the others so much larger that the mean
 * stays. BY_CHANNEL: all points of a channel together. A NaN stays one.
 *
 * The numbers follow from the seed, the step, the sample and the operator, and from the place of the
 * element in its sample: no plan, target or number of threads changes them. */
#include "prologue.c"

#define KERNEL dropout
#define AT_RUN_TIME NUMBER, H, W
#include "../example.h"

/* BEGIN */
/* Spreads all bits of x over the result. */
INLINE uint64_t KERNEL_mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* The key that tells the random numbers of a sample from all others. */
INLINE uint64_t KERNEL_key(uint64_t seed, int64_t step, int sample) {
    SIZES;
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    const uint64_t of_step = KERNEL_mixed(KERNEL_mixed(seed + odd) + (uint64_t)step * odd);
    return KERNEL_mixed(KERNEL_mixed(of_step + (uint64_t)NUMBER * odd) + (uint64_t)sample * odd);
}

INLINE uint32_t KERNEL_hash(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A number for each point, or for all, as if they were the first; the numbers of its channels are made from
 * it. */
INLINE uint32_t KERNEL_at(uint64_t key, uint32_t point) {
    return KERNEL_hash(point ^ (uint32_t)key) ^ (uint32_t)(key >> 32);
}

/* The factors of vector v of a point. */
INLINE Vector KERNEL_factors(uint32_t point, int v) {
    SIZES;
    const uint32_t dropped = (uint32_t)(RATE * 4294967296.0);
    Words x = {0};
    for (int lane = 0; lane < LANES; lane++)
        x[lane] = (uint32_t)(v * LANES + lane) * 0x9e3779b9u + point;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    x = x ^ x >> 16;
    return vector_choose((Bits)(x >= dropped), (Vector){0} + (real)(1 / (1 - RATE)), (Vector){0});
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, stored *y,
                          const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const uint64_t key = KERNEL_key(seed, step, start + i);
                const Vector alike = KERNEL_factors(KERNEL_at(key, 0), v);
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    const uint32_t point = (uint32_t)r * (uint32_t)W + (uint32_t)w;
                    const Vector factors = BY_CHANNEL ? alike : KERNEL_factors(KERNEL_at(key, point), v);
                    store_some(y + vector_at(&Y, v, at),
                               load_some(x + vector_at(&X, v, at), lanes(&X, v)) * factors, lanes(&Y, v));
                }
            }
}
/* END */
