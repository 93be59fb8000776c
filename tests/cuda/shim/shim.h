/* shim.h - runs the kernels of templates/cuda on a CPU, for tests on machines without a device.
 *
 * A .cu file is compiled by a C++ compiler with this file in front of it:
 *
 *     g++ -std=c++17 -x c++ -include shim.h -fno-strict-aliasing -fsanitize=address,undefined
 * model_kernels.cu
 *
 * with the headers of the CUDA toolkit, so that signatures and the rounding of 16-bit numbers are the true
 * ones, and linked with launch.cpp, stream.cpp and memory.cpp in place of libcudart.
 *
 * Without barriers the threads of a grid are the iterations of a loop; with them each thread of a block is
 * a fiber.  The environment chooses the order that a device leaves open:
 *
 *     UNET_SHIM_ORDER         forward (also when not set), reverse or permuted: of blocks and of threads;
 *                             forward, warps take turns, else one runs until it waits for the block
 *     UNET_SHIM_LAZY          1: work of a stream is done when somebody waits for it, not at once; 2: then,
 *                             and all streams take turns as far as events let them
 *     UNET_SHIM_GRAPH         the order that a graph leaves open: the first that was captured begins first
 *                             (also when not set), the last one, or, with a number, any, by chance
 *     UNET_SHIM_SLOW          N: a function of the host in a stream takes N milliseconds more
 *     UNET_SHIM_DEVICES       how many devices there are, 1 when not set
 *     UNET_SHIM_DEVICE_BYTES  memory of the device, 80 GiB when not set
 *     UNET_SHIM_CLOCK         1: events measure the time that launches say they take (shim_takes), so that
 *                             the time is the same in each run
 *     UNET_SHIM_FAULT         N: launch N reaches for memory that is not there; the device then does
 *                             nothing more, and every call that is asked says so
 *     UNET_SHIM_REPORT        1: says at exit how much was allocated and launched
 *
 * A mistake that a device would refuse is an error of the CUDA call; a mistake it would not notice (threads
 * that wait at different barriers, a barrier that some threads never reach) ends the program with a
 * message. Shared arrays hold NaN when a block starts. The first block that counts itself (atomicInc) stops
 * there until all others have ended, so that the last one to count itself sees what the first had not yet
 * written. Device memory comes from malloc and holds NaN, so AddressSanitizer sees each access outside, and
 * may be told to poison parts of it (by cudaLaunchHostFunc, so that it happens in the order of the stream
 * and again in each replay).
 *
 * It cannot show races between blocks that only true concurrency brings out, and one thread at a time may
 * call it. */
#ifndef SHIM_H
#define SHIM_H

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <cstring>
#include <functional>

namespace shim {

struct Position {
    uint3 thread, block;
    dim3 threads, blocks;
};
extern Position position; /* of the thread that runs */

/* Work of a stream, in its order and captured in graphs, as work of cudaLaunchHostFunc is. */
void submit(cudaStream_t stream, std::function<void()> work);
cudaError_t fail(cudaError_t error); /* remembers it for cudaGetLastError */

struct Kernel {
    const char *launcher, *name;
    bool waits; /* has barriers or shuffles */
};
void launch_body(cudaStream_t stream, Kernel kernel, dim3 blocks, dim3 threads, std::function<void()> body);

/* Parameters get their values now, whenever the kernel runs. */
template <class T> struct Value { typedef T type; };
template <class... P>
void launch(cudaStream_t stream, Kernel kernel, dim3 blocks, dim3 threads, void (*function)(P...),
            typename Value<P>::type... arguments) {
    launch_body(stream, kernel, blocks, threads, [=] { function(arguments...); });
}

void barrier(int line);
void expect(bool holds, const char *what); /* else the program ends, and says what was found */
unsigned long long exchange(unsigned mask, unsigned long long value, unsigned lane);
void arrived(); /* the block has counted itself */

/* The work that runs now takes so many nanoseconds. */
extern "C" void shim_takes(long nanoseconds);

/* Fills an array of the block with NaN when the block's first thread comes to it. *BLOCK: the one that it
 * was filled for. */
void fill_shared(void *array, size_t bytes, unsigned long *block);

} // namespace shim

#undef __global__
#undef __device__
#undef __host__
#undef __forceinline__
#undef __launch_bounds__
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx shim::position.thread
#define blockIdx shim::position.block
#define gridDim shim::position.blocks
#define __syncthreads() shim::barrier(__LINE__)

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned distance) {
    static_assert(sizeof value <= sizeof(unsigned long long), "one exchange");
    const unsigned lane = threadIdx.x % 32;
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = shim::exchange(mask, bits, lane + distance < 32 ? lane + distance : lane);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One thread runs at a time. */
inline void __threadfence() {}

inline unsigned atomicInc(unsigned *at, unsigned last) {
    const unsigned was = *at;
    *at = was >= last ? 0 : was + 1;
    shim::arrived();
    return was;
}

inline unsigned atomicAdd(unsigned *at, unsigned x) {
    const unsigned before = *at;
    *at += x;
    return before;
}

inline double atomicAdd(double *at, double x) {
    const double was = *at;
    *at += x;
    return was;
}

#define SHIM_LAUNCH(at, waits, kernel, grid, ...)                                                          \
    (shim::launch((at).stream, {__func__, #kernel, waits}, grid, THREADS, kernel, __VA_ARGS__),            \
     unet_cuda_check((at), cudaGetLastError(), __func__))
#define LAUNCH(at, kernel, ...) SHIM_LAUNCH(at, false, kernel, __VA_ARGS__)
#define LAUNCH_BLOCKS(at, kernel, ...) SHIM_LAUNCH(at, true, kernel, __VA_ARGS__)
#define SHARED(type, name, extents)                                                                        \
    static type name extents;                                                                              \
    static unsigned long name##_of_block;                                                                  \
    shim::fill_shared(&name, sizeof name, &name##_of_block)

#include "wmma.h"

#endif
