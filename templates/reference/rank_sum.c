/* rank_sum.c - adds what other processes have summed; where each updates a slice, that of this one. */
#include "prologue.c"

#define KERNEL rank_sum
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(void (*sum)(void *, void *, void *, int64_t, int), void *team, real *sums,
                          real *levels) {
    SIZES;
    if (sum == NULL)
        return;
#pragma omp master
    sum(team, sums, levels, COUNT, !SHARDED);
#pragma omp barrier
}
/* END */
