/* launch_runtime.h - a stand-in for the part of libcudart that the code of nvcc calls to launch a kernel:
 * it notes the last launch, and starts nothing. */
#ifndef LAUNCH_RUNTIME_H
#define LAUNCH_RUNTIME_H

#include <cuda_runtime_api.h>

typedef struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} SeenLaunch;

extern SeenLaunch last_launch;
extern int launch_count, registered_kernels;
extern cudaError_t launch_answer;               /* to the next launches */
extern void (*look_at_arguments)(void **value); /* of the next launches; may be NULL */

#endif
