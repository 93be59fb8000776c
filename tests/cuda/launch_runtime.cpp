/* launch_runtime.cpp - see launch_runtime.h. */
#include "launch_runtime.h"

SeenLaunch last_launch;
int launch_count, registered_kernels;
cudaError_t launch_answer = cudaSuccess;
void (*look_at_arguments)(void **value);

static SeenLaunch pushed;
static cudaError_t last_error;

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    pushed = {grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = pushed.grid;
    *block = pushed.block;
    *shared = pushed.shared;
    *static_cast<cudaStream_t *>(stream) = pushed.stream;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void *>(function));
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *, dim3 grid, dim3 block, void **value, size_t shared,
                             cudaStream_t stream) {
    last_launch = {grid, block, shared, stream};
    launch_count++;
    if (look_at_arguments != nullptr)
        look_at_arguments(value);
    return last_error = launch_answer;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **value, size_t shared,
                               cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, value, shared, stream);
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

void **__cudaRegisterFatBinary(void *) {
    static void *handle;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
char __cudaInitModule(void **) {
    return 0;
}

void __cudaRegisterFunction(void **, const char *, char *, const char *, int, uint3 *, uint3 *, dim3 *,
                            dim3 *, int *) {
    registered_kernels++;
}
}
