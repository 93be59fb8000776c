/* cuda_device.h - what the host code of a program for a GPU hands to the runtime, and the runtime to it. */
#ifndef UNET_CUDA_DEVICE_H
#define UNET_CUDA_DEVICE_H

#include "cuda.h"
#include "cudnn.h"
#include "device.h"

/* Where the inputs of a program go in the arena; offset -1: not read. */
typedef struct {
    int64_t offset, bytes;
} UnetStaging;

typedef struct {
    void (*steps)(UnetLaunch at, char *arena); /* launches a whole step; NULL: not compiled in */
    int64_t control;                           /* offset of its UnetControl, */
    int64_t samples;                           /*   which has sizes for so many samples */
    const UnetStaging *staging;                /* one per input of the model */
} UnetCudaProgram;

typedef struct UnetCudaModel {
    int32_t nconvolution;
    const UnetConvolution *convolution;
    UnetCudaProgram train, eval, predict;
} UnetCudaModel;

extern const UnetDevice unet_cuda_device;

/* At the head of each step of a program stand its operands: {offset, bytes, whether its life begins here}.
 * Builds that check them (tests) let the step touch these and nothing else. */
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
