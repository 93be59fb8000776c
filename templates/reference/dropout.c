/* dropout.c - elements that are dropped by chance become zero, and the others so much larger that the mean
 * stays. BY_CHANNEL: all points of a channel together. A NaN stays one.
 *
 * The numbers follow from the seed, the step, the sample and the operator, and from the place of the
 * element in its sample: no plan, target or number of threads changes them. */
#include "draws.c"

#define KERNEL dropout
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, stored *y,
                          const stored *x) {
    SIZES;
    const uint32_t dropped = (uint32_t)(RATE * 4294967296.0);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const uint64_t key = draws_key(seed, step, NUMBER, start + i);
                    const uint32_t point =
                        draws_at(key, BY_CHANNEL ? 0 : (uint32_t)r * (uint32_t)W + (uint32_t)p);
                    const uint32_t number = draws_of(point, c);
                    const real factor = number >= dropped ? (real)(1 / (1 - RATE)) : 0;
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load(x, element(&X, i, c, r / H, r % H, p)) * factor : 0);
                }
}
/* END */
