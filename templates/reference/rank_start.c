/* rank_start.c - other processes begin to be sent these sums, which nobody writes any more. */
#include "prologue.c"

#define KERNEL rank_start
#include "../example.h"

/* BEGIN */
/* A thread of the runtime does that, while others go on; it has these levels, which were read, for itself.
 */
UNUSED static void KERNEL(int last, void (*start)(void *, void *, void *, int32_t, int), void *team,
                          const real *sums, real *levels) {
    SIZES;
    if (!last || start == NULL)
        return;
#pragma omp master
    start(team, (real *)sums, levels + PLACE, BUCKET, !SHARDED);
}
/* END */
