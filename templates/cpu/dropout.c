/* dropout.c - elements that are dropped by chance become zero, and the others so much larger that the mean
 * stays. BY_CHANNEL: all points of a channel together. A NaN stays one.
 *
 * The numbers follow from the seed, the step, the sample and the operator, and from the place of the
 * element in its sample: no plan, target or number of threads changes them. */
#include "draws.c"

#define KERNEL dropout
#define AT_RUN_TIME NUMBER, H, W
#include "../example.h"

/* BEGIN */
/* The factors of vector v of a point. */
INLINE Vector KERNEL_factors(uint32_t point, int v) {
    SIZES;
    const uint32_t dropped = (uint32_t)(RATE * 4294967296.0);
    const Words x = draws_lanes(point, v);
    return vector_choose((Bits)(x >= dropped), (Vector){0} + (real)(1 / (1 - RATE)), (Vector){0});
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, stored *y,
                          const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const uint64_t key = draws_key(seed, step, NUMBER, start + i);
                const Vector alike = KERNEL_factors(draws_at(key, 0), v);
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    const uint32_t point = (uint32_t)r * (uint32_t)W + (uint32_t)w;
                    const Vector factors = BY_CHANNEL ? alike : KERNEL_factors(draws_at(key, point), v);
                    store_some(y + vector_at(&Y, v, at),
                               load_some(x + vector_at(&X, v, at), lanes(&X, v)) * factors, lanes(&Y, v));
                }
            }
}
/* END */
