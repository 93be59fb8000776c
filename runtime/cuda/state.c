/* state.c - what device.c and step.c both ask: what a failure of CUDA means, and of the tables of a
 * program. */
#include "state.h"

#include <stdlib.h>
#include <string.h>

UnetStatus unet_cuda_failure(UnetError *error, cudaError_t code, const char *what) {
    UnetStatus status = code == cudaErrorMemoryAllocation ? UNET_TOO_SMALL : UNET_IO;
    return unet_fail(error, status, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
}

UnetStatus unet_cuda_checked(cudaError_t code, const char *what, UnetError *error) {
    return code == cudaSuccess ? UNET_OK : unet_cuda_failure(error, code, what);
}

const UnetCudaProgram *unet_cuda_program(const UnetCudaModel *tables, int k) {
    const UnetCudaProgram *const list[PROGRAMS] = {&tables->train, &tables->eval, &tables->predict};
    return list[k];
}

int32_t unet_cuda_graphs(const UnetCudaProgram *program) {
    return program->holds ? program->iterations : 1;
}

int unet_cuda_stream_of(const UnetCudaModel *tables, int32_t i) {
    return tables->streams[i] & 1 ? 0 : 1;
}

const UnetCudnnPlan *unet_cuda_plan(const UnetCuda *cuda, int32_t i) {
    return &cuda->plan[unet_cuda_stream_of(cuda->tables, i)][i];
}

UnetStatus unet_cuda_set_turns(UnetCuda *cuda, bool in_turns, UnetError *error) {
    const char *branches = getenv("UNET_CUDA_BRANCHES");
    if (cuda->second == NULL)
        return UNET_OK;
    cuda->in_turns = in_turns || (branches != NULL && strcmp(branches, "0") == 0);
    const cudnnStatus_t code = cudnnSetStream(cuda->cudnn[1], cuda->in_turns ? cuda->stream : cuda->second);
    return code == CUDNN_STATUS_SUCCESS
               ? UNET_OK
               : unet_fail(error, UNET_IO, "cuDNN takes no other stream: %s", cudnnGetErrorString(code));
}

size_t unet_cuda_control_bytes(const UnetCudaProgram *program) {
    size_t samples = (size_t)program->iterations * (size_t)program->iteration_samples;
    return (sizeof(UnetControl) + samples * sizeof(UnetValid) + 7) / 8 * 8;
}
