/* diffuse.c - a tensor x with normal noise e, or what a network is asked to tell of both.  At the time t of
 * the sample, a = VALUES[t]; in the order of UnetDiffused:
 *
 *     sqrt(a) x + sqrt(1 - a) e,     e,     sqrt(a) e - sqrt(1 - a) x
 */
#include "draws.c"

#define KERNEL diffuse
#include "../example.h"

/* BEGIN */
#include <unet/functions.h>

/* The factors of x and e. */
typedef struct {
    real picture, noise;
} KERNEL_Factors;

INLINE KERNEL_Factors KERNEL_factors(int time) {
    SIZES;
    const int makes = WHICH;
    const real kept = (real)sqrt(VALUES[time]), added = (real)sqrt(1 - VALUES[time]);
    return makes == UNET_DIFFUSED_PICTURE ? (KERNEL_Factors){kept, added}
           : makes == UNET_DIFFUSED_NOISE ? (KERNEL_Factors){0, 1}
                                          : (KERNEL_Factors){-added, kept};
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, void *restrict y,
                          const void *x) {
    SIZES;
    const int mixes = WHICH != (int)UNET_DIFFUSED_NOISE;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const uint64_t times = draws_diffusion(seed, step, NUMBER, start + i, EVALUATION);
                const uint64_t key = draws_diffusion(seed, step, NUMBER + 1, start + i, EVALUATION);
                const KERNEL_Factors by = KERNEL_factors(draws_below(times, COUNT));
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    const uint32_t point = draws_at(key, (uint32_t)r * (uint32_t)W + (uint32_t)w);
                    Vector mixed = by.noise * draws_normal(point, v);
                    if (mixes)
                        mixed += by.picture * load_either(X_STAGED, x, vector_at(&X, v, at), lanes(&X, v));
                    store_either(Y_STAGED, y, vector_at(&Y, v, at), first_lanes(mixed, C - v * LANES),
                                 lanes(&Y, v));
                }
            }
}
/* END */
