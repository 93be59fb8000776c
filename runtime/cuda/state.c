/* state.c - what device.c and step.c both ask: what a failure of CUDA means, and of the tables of a
 * program. */
#include "state.h"

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

size_t unet_cuda_control_bytes(const UnetCudaProgram *program) {
    size_t samples = (size_t)program->iterations * (size_t)program->iteration_samples;
    return (sizeof(UnetControl) + samples * 3 * sizeof(int32_t) + 7) / 8 * 8;
}
