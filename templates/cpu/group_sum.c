/* group_sum.c - the sums of a group of samples take their place in a tree of such sums, and begin anew. */
#include "prologue.c"

#define KERNEL group_sum
#include "../example.h"

/* BEGIN */
/* Branches of as many groups are joined, the earlier one first; behind the LAST group all that wait. */
UNUSED static void KERNEL_join(int group, int last, real *sums, real *levels, long begin, long end) {
    SIZES;
    int level = 0;
    for (; level < LEVELS && (last || group >> level & 1); level++)
        for (long i = begin; group >> level & 1 && i < end; i++)
            sums[i] = levels[(long)level * APART + i] + sums[i];
    for (long i = begin; !last && i < end; i++) {
        levels[(long)level * APART + i] = sums[i];
        sums[i] = 0;
    }
}

/* The same for a loss or a metric. */
UNUSED static void KERNEL_join_doubles(int group, int last, double *sums, double *levels) {
    SIZES;
    int level = 0;
    for (; level < LEVELS && (last || group >> level & 1); level++)
        for (long i = 0; group >> level & 1 && i < COUNT; i++)
            sums[i] = levels[(long)level * APART + i] + sums[i];
    for (long i = 0; !last && i < COUNT; i++) {
        levels[(long)level * APART + i] = sums[i];
        sums[i] = 0;
    }
}

UNUSED static void KERNEL(int group, int last, void *sums, void *levels) {
    SIZES;
    enum { PIECE = 4096 };
    if (DOUBLES) {
#pragma omp single
        KERNEL_join_doubles(group, last, sums, levels);
        return;
    }
#pragma omp for schedule(static)
    for (long begin = 0; begin < COUNT; begin += PIECE)
        KERNEL_join(group, last, sums, (real *)levels + PLACE, begin,
                    begin + PIECE < COUNT ? begin + PIECE : COUNT);
}
/* END */
