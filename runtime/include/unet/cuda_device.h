/* cuda_device.h - the tables that the host code of a program for a GPU gives to the runtime. */
#ifndef UNET_CUDA_DEVICE_H
#define UNET_CUDA_DEVICE_H

#include "cuda_arrays.h"
#include "cudnn.h"
#include "device.h"

/* The places in the arena of the inputs of a program, for the samples of one iteration; offset -1: not
 * read. */
typedef struct {
    int64_t offset, bytes;
    bool held; /* the inputs of all iterations of the process lie there, one behind the other */
} UnetStaging;

/* A part of a step, launched as one graph.  The pieces of an iteration follow each other; if other pieces
 * stand between them, there are several loops over the same samples. */
typedef struct {
    void (*launch)(UnetLaunch at, char *arena);
    bool once; /* what it computes from weights stays: in the first step after these came, and after steps
                  of another program */
    bool in_iteration; /* once for each iteration of the loop over samples; without a loop there is one
                          iteration */
    bool frees_inputs; /* no later piece of the iteration reads them */
    bool ends_group;   /* runs behind the last samples of a group alone */
    bool starts_ranks; /* begins to exchange a bucket of the gradients: behind the last samples alone,
                          beside the pieces behind it, where devices are connected */
    bool sums_ranks;   /* exchanges numbers with other processes, where there are some; part of a graph only
                          where devices are connected */
} UnetCudaPiece;

typedef struct {
    const UnetCudaPiece *piece; /* NULL: not compiled in */
    int32_t npiece;
    int32_t iterations, iteration_samples;
    int32_t group;   /* samples of a group, with `ranks`; or 0 */
    int64_t control; /* offset of its UnetControl, with sizes for the samples of all iterations */
    int64_t results, results_bytes; /* offset of the numbers that it returns, side by side; bytes, or 0 */
    double beta[2];                 /* Adam's; 0 without it */
    bool holds; /* tensors hold all samples of the process, so that each iteration has others of them */
    const UnetStaging *staging;   /* one per input of the model */
    const UnetLabelCount *labels; /* the counts of a batch that are taken before its step, */
    int32_t nlabels;
    bool prefetches; /* staging is not shared: the next inputs may be copied as soon as these are freed */
} UnetCudaProgram;

/* UnetModel.device_tables of a program for a GPU. */
typedef struct UnetCudaModel {
    int32_t table_bytes; /* UNET_CUDA_TABLE_BYTES where the tables were compiled */
    int32_t nconvolution;
    const UnetConvolution *convolution;
    const uint8_t *streams; /* per convolution: bit K is set where it runs in stream K */
    bool forks;             /* some steps run in the second stream, be they convolutions or not */
    UnetCudaArrays arrays;  /* NULL, NULL: steps take no arrays in the memory of the device */
    UnetCudaProgram train, eval, predict;
} UnetCudaModel;

/* As UNET_TABLE_BYTES: a sum that is the same where the tables are compiled, the kernels and the runtime.
 */
#define UNET_CUDA_TABLE_BYTES                                                                              \
    ((int32_t)(sizeof(UnetCudaModel) + sizeof(UnetCudaProgram) + sizeof(UnetCudaPiece) +                   \
               sizeof(UnetStaging) + sizeof(UnetConvolution) + sizeof(UnetLabelCount) +                    \
               sizeof(UnetControl) + sizeof(UnetLaunch) + sizeof(UnetFilterJobs) +                         \
               sizeof(UnetComparisons) + sizeof(UnetTracks)))

extern const UnetDevice unet_cuda_device;

/* The operands of a step stand at its head: {offset, bytes, whether its life begins here}.  Builds that
 * check them (tests) let the step touch these and nothing else. */
#ifdef UNET_CHECK_OPERANDS
#include "poison.h"
void unet_cuda_operands(UnetLaunch at, const UnetSpan *span);
#define OPERANDS(at, ...)                                                                                  \
    do {                                                                                                   \
        static const UnetSpan operands[] = {__VA_ARGS__};                                                  \
        unet_cuda_operands((at), operands);                                                                \
    } while (0)
#else
#define OPERANDS(...) ((void)0)
#endif

#endif
