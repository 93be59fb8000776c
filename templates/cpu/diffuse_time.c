/* diffuse_time.c - the time of each sample, a whole number below COUNT, or, WEIGHTED, a number of VALUES by
 * it, in all channels of a point, as the loader would leave it. */
#include "draws.c"

#define KERNEL diffuse_time
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, real *y) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        const int time = draws_below(draws_diffusion(seed, step, NUMBER, start + i, EVALUATION), COUNT);
        const Vector number = (Vector){0} + (real)(WEIGHTED ? VALUES[time] : time);
        for (int v = 0; v < vectors(&Y); v++)
            store_some_real(y + vector_at(&Y, v, (Point){i, 0, 0, 0}), first_lanes(number, C - v * LANES),
                            lanes(&Y, v));
    }
}
/* END */
