/* rank_sum.cu - adds what other processes have summed. */
#include "prologue.cuh"

#define KERNEL rank_sum
#include "../example_cuda.h"

/* BEGIN */
/* As a binary tree, in the order of the processes; branches of 1, 2, 4, ... of them wait for the next. */
static __global__ void KERNEL_add(UnetRankParts parts) {
    SIZES;
    for (unsigned i = thread_index(); i < parts.count; i += gridDim.x * THREADS) {
        real waiting[LEVELS + 1], sum = 0;
        int level = 0;
        for (int r = 0; r < parts.ranks; r++) {
            sum = r == parts.mine ? parts.sum[i] : parts.room[r * parts.apart + i];
            for (level = 0; r >> level & 1; level++)
                sum = waiting[level] + sum;
            waiting[level] = sum;
        }
        for (level++; level <= LEVELS; level++)
            if (parts.ranks >> level & 1)
                sum = waiting[level] + sum;
        parts.sum[i] = sum;
    }
}

static void KERNEL_parts(UnetLaunch at, UnetRankParts parts) {
    LAUNCH(at, KERNEL_add, sweep_blocks((unsigned)parts.count), parts);
}

LAUNCHER void KERNEL(UnetLaunch at, real *sums, real *levels) {
    SIZES;
    unet_cuda_sum_ranks(at, sums, levels, COUNT, !SHARDED, KERNEL_parts);
}
/* END */
