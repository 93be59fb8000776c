/* cuda.h - what the host code and the kernels of a program for a GPU share with the runtime.
 *
 * The arena is one allocation on the device.  A step is a list of launches on one stream, beside which some
 * may have branches on a second one; nothing in it depends on the host: what changes from step to step lies
 * in a UnetControl on the device, so that the list can be captured once as a graph and replayed.  Every
 * pointer is to device memory, unless said otherwise.
 */
#ifndef UNET_CUDA_H
#define UNET_CUDA_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "unet/control.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows [begin, end) of a sample, which has depth * height of them: the rows of its output that a kernel
 * computes.  Whoever launches it keeps them inside the sample; nothing is computed of an empty range. */
typedef struct {
    int32_t begin, end;
} Rows;

/* A job between a layer's filters and another place in memory, or a bias and its sums, or the points of an
 * image; only kernels know its meaning (templates/cuda/filters.cuh).  Its blocks begin with block
 * `first`; of the dense weights [K][channels][taps] it concerns kn filters from k0 on and cn channels from
 * c0 on, which are packed as [kp][taps][cp]. */
typedef struct {
    void *to;
    const void *from;
    uint32_t first;
    int32_t k0, kn, kp, c0, cn, cp, channels, taps, adds;
} UnetFilterJob;

/* The jobs of steps that one launch does: the last of them launches all.  One launch takes 4 KiB at most.
 */
enum { UNET_FILTER_JOBS = 64 };
typedef struct {
    uint32_t count, blocks;
    UnetFilterJob job[UNET_FILTER_JOBS];
} UnetFilterJobs;

/* Losses and metrics that compare the same two tensors, in one launch: to what they sum, with scratch for
 * the parts, and how (templates/cuda/comparisons.cuh). */
typedef struct {
    double *result, *scratch;
    double number; /* that the kind has for its own */
    int32_t kind, adds;
} UnetComparison;

enum { UNET_COMPARISONS = 8 };
typedef struct {
    uint32_t count;
    UnetComparison of[UNET_COMPARISONS];
} UnetComparisons;

/* Running means and variances of layers that follow the statistics of a batch, in one launch: CHANNELS
 * channels, for which each sample has POINTS points (templates/cuda/norm_track.cu). */
typedef struct {
    float *running_mean, *running_var;
    const float *mean, *variance;
    double momentum, points;
    int32_t channels, samples, group, sync;
} UnetTrack;

/* One launch takes 4 KiB at most. */
enum { UNET_TRACKS = 60 };
typedef struct {
    uint32_t count, most; /* tracks, and channels of the widest */
    UnetTrack of[UNET_TRACKS];
} UnetTracks;

typedef struct UnetCuda UnetCuda; /* a device with a program on it */

/* The first argument of every launcher. */
typedef struct {
    UnetCuda *cuda;
    cudaStream_t stream;
    const UnetControl *control;
    uint32_t *arrived;    /* in it, the counter of the stream */
    double *correction;   /* in it */
    int32_t branch;       /* 0: of the first stream, 1: of the second */
    const char *step;     /* "conv of enc1.0": the name under which it is timed */
    UnetFilterJobs *jobs; /* on the host: of the steps before this one that one launch does with it, */
    UnetComparisons *comparisons; /* and what they compare, */
    UnetTracks *tracks;           /* and the averages that they keep */
    int32_t more;                 /* steps come that it does, too */
    int32_t held; /* the first sample of this iteration, if tensors hold all samples of the process */
} UnetLaunch;

/* Runs convolution INDEX of the program's table: computes RESULT from its two operands, in the order of
 * UnetConvolution (cudnn.h).  BIAS is NULL where it has none; WORKSPACE has as many bytes as the table
 * says. The first failure is kept and ends the step. */
void unet_cuda_convolution(UnetLaunch at, int32_t index, void *result, const void *a, const void *b,
                           const void *bias, void *workspace);

/* The parts that RANKS processes have of one slice of their sums: the part of process MINE is in SUM, the
 * others are in ROOM, each APART from the one before it. */
typedef struct {
    float *sum;
    const float *room;
    int64_t count, apart;
    int32_t mine, ranks;
} UnetRankParts;

/* SUMS, COUNT numbers, becomes the sum over all ranks: the WHOLE of it, or the slice of this rank; with one
 * rank nothing happens.  ROOM holds as many numbers, and one more for each rank.  ADD launches the kernel
 * that adds parts as a binary tree, to SUM. */
void unet_cuda_sum_ranks(UnetLaunch at, float *sums, float *room, int64_t count, int whole,
                         void (*add)(UnetLaunch at, UnetRankParts parts));

/* The same for BUCKET of UnetTraining.buckets, which lies at SUMS, with ROOM of its own, in a stream beside
 * the step: nothing touches either until unet_cuda_sum_ranks() has waited for it. */
void unet_cuda_start_ranks(UnetLaunch at, float *sums, float *room, int32_t bucket, int whole,
                           void (*add)(UnetLaunch at, UnetRankParts parts));

/* Each rank has the right ones in its slice of COUNT numbers, and gets the others. */
void unet_cuda_gather_ranks(UnetLaunch at, float *numbers, int64_t count);

/* The slice of COUNT numbers that this rank has, [*from, *to): without others the first of SLICES. */
void unet_cuda_slice(UnetLaunch at, int64_t count, int32_t slices, uint32_t *from, uint32_t *to);

/* Begins a branch: a launch with the result waits for all launches with AT so far, and runs beside launches
 * with AT from now on.  unet_cuda_join() ends the branch: launches with AT behind it wait for both.  One
 * branch ends before another begins. */
UnetLaunch unet_cuda_fork(UnetLaunch at);
void unet_cuda_join(UnetLaunch at);

/* Keeps the first failure of a launch; LAUNCHER is the name of what launched it. */
void unet_cuda_check(UnetLaunch at, cudaError_t error, const char *launcher);

#ifdef __cplusplus
}
#endif

#endif
