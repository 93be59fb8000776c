/* diffuse_time.c - the time of each sample, a whole number below COUNT, or, WEIGHTED, a number of VALUES by
 * it, as the loader would leave it. */
#include "draws.c"

#define KERNEL diffuse_time
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, real *y) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
        const int time = draws_below(draws_diffusion(seed, step, NUMBER, start + i, EVALUATION), COUNT);
        for (int c = 0; c < stored_channels(&Y); c++)
            y[element(&Y, i, c, 0, 0, 0)] = c < C ? (real)(WEIGHTED ? VALUES[time] : time) : 0;
    }
}
/* END */
