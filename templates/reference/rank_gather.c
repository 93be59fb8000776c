/* rank_gather.c - brings the slices that processes have updated to all of them. */
#include "prologue.c"

#define KERNEL rank_gather
#include "../example.h"

/* BEGIN */
/* WHOLE is for the runtime, between two steps; all of G were read. */
UNUSED static void KERNEL(void (*gather)(void *, void *, int64_t), void *team, real *whole, real *p,
                          real *average, const real *g) {
    SIZES;
    (void)whole, (void)g;
    if (gather == NULL)
        return;
#pragma omp master
    {
        gather(team, p, COUNT);
        if (AVERAGED)
            gather(team, average, COUNT);
    }
#pragma omp barrier
}
/* END */
