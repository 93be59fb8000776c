/* rank_sum.cu - adds what other processes have summed; of a bucket of the gradients it begins with that. */
#include "prologue.cuh"

#define KERNEL rank_sum
#include "../example_cuda.h"

/* BEGIN */
/* As a binary tree, in the order of the processes; branches of 1, 2, 4, ... of them wait for the next.
 * Loops over levels are unrolled, so that what waits is in registers. */
static __global__ void KERNEL_add(UnetRankParts parts) {
    SIZES;
    for (unsigned i = thread_index(); i < parts.count; i += gridDim.x * THREADS) {
        real waiting[LEVELS + 1] = {0}, sum = 0;
        for (int r = 0; r < parts.ranks; r++) {
            bool joins = true;
            sum = r == parts.mine ? parts.sum[i] : parts.room[r * parts.apart + i];
#pragma unroll
            for (int level = 0; level <= LEVELS; level++) {
                const bool waits = r >> level & 1;
                if (joins && waits)
                    sum = waiting[level] + sum;
                else if (joins)
                    waiting[level] = sum;
                joins = joins && waits;
            }
        }
#pragma unroll
        for (int level = 1; level <= LEVELS; level++)
            if (parts.ranks >> level & 1 && parts.ranks % (1 << level) != 0)
                sum = waiting[level] + sum;
        parts.sum[i] = sum;
    }
}

static void KERNEL_parts(UnetLaunch at, UnetRankParts parts) {
    LAUNCH(at, KERNEL_add, sweep_blocks((unsigned)parts.count), parts);
}

LAUNCHER void KERNEL(UnetLaunch at, real *sums, real *levels) {
    SIZES;
    if (BUCKET < 0)
        unet_cuda_sum_ranks(at, sums, levels, COUNT, !SHARDED, KERNEL_parts);
    else
        unet_cuda_start_ranks(at, sums, levels + PLACE, BUCKET, !SHARDED, KERNEL_parts);
}
/* END */
