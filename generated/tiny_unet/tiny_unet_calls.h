/* tiny_unet_calls.h - what stands before the steps of tiny_unet, and the functions that list them
 *
 * Made by unetc from tiny_unet.unet (16d462818c889222) with: --size=64x64 --kernels=reference
 * Do not edit: change the .unet file and compile again. */
#ifndef UNETC_TINY_UNET_CALLS_H
#define UNETC_TINY_UNET_CALLS_H

#include "tiny_unet.h"
#include "tiny_unet_plan.h"
#include "tiny_unet_sizes.h"

/* A place in the arena; the first sample of an input, as the loader left it. */
#define AT(type, offset) ((type *)(void *)(arena + (offset)))
#define INPUT(type, index, sample) ((const type *)step->inputs[index] + start * (sample))

/* A step of the plan begins (UnetPlanStep): its number, what it computes and how, the line that calls for it, FLOPs,
 * bytes. */
UNUSED static __attribute__((noinline)) void begin(const UnetStep *step, int position, const char *name, const char *method,
                                                   int line, int64_t flops, int64_t bytes) {
    if (step->watch != NULL) {
        const UnetPlanStep what = {position, name, method, line, flops, bytes};
#pragma omp master
        step->watch->begins(step->watch, &what);
    }
}

/* A slice of a region is as long as its last vector; `used` and `stored` are bytes. */
UNUSED static void zero_tail(void *slice, size_t used, size_t stored_bytes) {
#pragma omp single nowait
    memset((char *)slice + used, 0, stored_bytes - used);
}

/* All rows of a tensor. */
static const Rows rows_64 = {0, 64}, rows_32 = {0, 32}, rows_16 = {0, 16}, rows_8 = {0, 8};

/* The samples of this iteration, from `start` on; of groups, behind the last sample of this process; the band; sums of
 * labels.  All threads of the parallel region call such a function. */
#define PART_PARAMETERS                                                                                                \
    const UnetStep *step, int n, int start, const int32_t (*valid)[3], int last, int band, const double *labelled


/* A file that includes this header lists calls alone: there is nothing to optimise. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif
#endif
