/* rank_sum.c - adds the sums of other processes; if each updates a slice, the slice of this one. */
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
