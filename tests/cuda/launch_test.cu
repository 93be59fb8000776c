/* launch_test.cu - what the host does when a kernel is launched by the macros of
 * templates/cuda/prologue.cuh, as nvcc compiles them.  The runtime of CUDA is a stand-in
 * (launch_runtime.cpp): there is no device, and a launch is only looked at. */
#include "../../templates/cuda/prologue.cuh"

#include "launch_runtime.h"

#include <cstdio>

static int failures;

#define EXPECT(what)                                                                                       \
    do {                                                                                                   \
        if (!(what)) {                                                                                     \
            printf("line %d: %s\n", __LINE__, #what);                                                      \
            failures++;                                                                                    \
        }                                                                                                  \
    } while (0)

static __global__ void unet_fill(float *to, float x, unsigned count) {
    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        to[i] = x;
}

static __global__ void unet_range(Range range, float *to) {
    if (vector_index(range) != NO_VECTOR)
        *to = 1;
}

static cudaError_t checked;
static const char *checked_launcher;
static int checks;

void unet_cuda_check(UnetLaunch, cudaError_t error, const char *launcher) {
    checked = error;
    checked_launcher = launcher;
    checks++;
}

static float memory;
static const Range range = {3 * THREADS + 1, 0, 3 * THREADS + 1, 3 * THREADS + 1};
static int looks;

static void look_at_fill(void **value) {
    EXPECT(*(float **)value[0] == &memory && *(float *)value[1] == 2.5f && *(unsigned *)value[2] == 1000);
    looks++;
}

static void look_at_range(void **value) {
    EXPECT(memcmp(value[0], &range, sizeof range) == 0 && *(float **)value[1] == &memory);
    looks++;
}

static void launches(UnetLaunch at) {
    look_at_arguments = look_at_fill;
    LAUNCH(at, unet_fill, 7, &memory, 2.5f, 1000u);
    EXPECT(last_launch.grid.x == 7 && last_launch.grid.y == 1 && last_launch.grid.z == 1);
    EXPECT(last_launch.block.x == THREADS && last_launch.block.y == 1 && last_launch.block.z == 1);
    EXPECT(last_launch.stream == at.stream && last_launch.shared == 0);
    EXPECT(checks == 1 && checked == cudaSuccess && strcmp(checked_launcher, "launches") == 0);
    LAUNCH_BLOCKS(at, unet_fill, dim3(3, 65535), &memory, 2.5f, 1000u);
    EXPECT(last_launch.grid.x == 3 && last_launch.grid.y == 65535 && last_launch.block.x == THREADS);
    EXPECT(launch_count == 2 && checks == 2);
}

static void ranges(UnetLaunch at) {
    look_at_arguments = look_at_range;
    LAUNCH_RANGE(at, unet_range, range, &memory);
    EXPECT(launch_count == 3 && last_launch.grid.x == 4);
    const Range none = {0, 0, 0, 1};
    LAUNCH_RANGE(at, unet_range, none, &memory);
    EXPECT(launch_count == 3 && checks == 3 && looks == 3);
}

/* A refusal of the runtime is told to the check of the launch. */
static void refused(UnetLaunch at) {
    look_at_arguments = NULL;
    launch_answer = cudaErrorInvalidConfiguration;
    LAUNCH(at, unet_fill, 0, &memory, 1.f, 1u);
    EXPECT(checks == 4 && checked == cudaErrorInvalidConfiguration &&
           strcmp(checked_launcher, "refused") == 0);
    launch_answer = cudaSuccess;
    LAUNCH(at, unet_fill, 1, &memory, 1.f, 1u);
    EXPECT(checks == 5 && checked == cudaSuccess);
}

int main() {
    UnetLaunch at = {};
    at.stream = (cudaStream_t)&at;
    launches(at);
    ranges(at);
    refused(at);
    EXPECT(registered_kernels >= 2);
    printf("%d launches, %d failures\n", launch_count, failures);
    return failures != 0;
}
