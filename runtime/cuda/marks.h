/* marks.h - how long the device works on parts of a step: each event in its stream ends a part. */
#ifndef UNET_CUDA_MARKS_H
#define UNET_CUDA_MARKS_H

#include <cuda_runtime_api.h>

#include "unet/device.h"

typedef struct {
    cudaEvent_t *event;   /* events of earlier steps are used again */
    UnetDeviceTime *time; /* of the part that ends there */
    int32_t count, events, room;
} UnetCudaMarks;

/* The part NAME of the step ends here, or goes on to here when the last mark was of the same name (the same
 * pointer); the first mark begins the step. */
cudaError_t unet_cuda_mark(UnetCudaMarks *marks, cudaStream_t stream, const char *name);

/* Fills in the seconds of all parts, when the stream has passed them. */
cudaError_t unet_cuda_marks_read(UnetCudaMarks *marks);

void unet_cuda_marks_free(UnetCudaMarks *marks);

#endif
