/* group_sum.cu - the sums of a group of samples take their place in a tree of such sums, and begin anew. */
#include "prologue.cuh"

#define KERNEL group_sum
#include "../example_cuda.h"

/* BEGIN */
/* Branches of as many groups are joined, the earlier one first; behind the last group all that wait. */
template <class Number>
static __global__ void KERNEL_join(Number *sums, Number *levels, const UnetControl *control) {
    SIZES;
    const int group = (control->start - control->first) / GROUP;
    const bool last = control->start + N >= control->last;
    for (unsigned i = thread_index(); i < (unsigned)COUNT; i += gridDim.x * THREADS) {
        Number sum = sums[i];
        int level = 0;
        for (; level < LEVELS && (last || (group >> level & 1)); level++)
            if (group >> level & 1)
                sum = levels[(size_t)level * APART + i] + sum;
        if (!last)
            levels[(size_t)level * APART + i] = sum;
        sums[i] = last ? sum : Number(0);
    }
}

LAUNCHER void KERNEL(UnetLaunch at, void *sums, void *levels) {
    SIZES;
    if (DOUBLES)
        LAUNCH(at, KERNEL_join<double>, sweep_blocks(COUNT), (double *)sums, (double *)levels + PLACE,
               at.control);
    else
        LAUNCH(at, KERNEL_join<real>, sweep_blocks(COUNT), (real *)sums, (real *)levels + PLACE,
               at.control);
}
/* END */
