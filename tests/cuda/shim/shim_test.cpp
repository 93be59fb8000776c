/* shim_test.cpp - the shim itself: what it captures, what it refuses, what it puts off, what it notices.
 * Run at once, lazily and interleaved (UNET_SHIM_LAZY), on a device of a million bytes. */
#include "shim.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define EXPECT(condition)                                                                                  \
    do {                                                                                                   \
        if (!(condition)) {                                                                                \
            printf("line %d: %s\n", __LINE__, #condition);                                                 \
            failures++;                                                                                    \
        }                                                                                                  \
    } while (0)

enum { THREADS = 64, COUNT = 256, MILLION = 1000000 };

struct Launch {
    cudaStream_t stream;
};

static cudaError_t launched;
static void unet_cuda_check(Launch, cudaError_t error, const char *) {
    launched = error;
}

static bool lazy() {
    const char *value = getenv("UNET_SHIM_LAZY");
    return value != nullptr && value[0] > '0';
}

static bool interleaves() {
    const char *value = getenv("UNET_SHIM_LAZY");
    return value != nullptr && value[0] == '2';
}

static bool thread_0_runs_last() {
    const char *value = getenv("UNET_SHIM_ORDER");
    return value != nullptr && strcmp(value, "reverse") == 0;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

__global__ void add_to_all(float *x, float amount) {
    x[blockIdx.x * THREADS + threadIdx.x] += amount;
}

__global__ void read_shared_first(float *x) {
    SHARED(float, part, [THREADS]);
    x[blockIdx.x * THREADS + threadIdx.x] = part[threadIdx.x];
    part[threadIdx.x] = 1;
    __syncthreads();
}

__global__ void reverse_block(float *x) {
    SHARED(float, part, [THREADS]);
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = part[THREADS - 1 - threadIdx.x];
}

__global__ void sum_of_warp(float *x) {
    float sum = x[threadIdx.x];
    for (unsigned distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(~0u, sum, distance);
    if (threadIdx.x % 32 == 0)
        x[threadIdx.x] = sum;
}

__global__ void different_barriers(float *x) {
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = 0;
}

__global__ void barrier_of_half(float *x) {
    if (threadIdx.x < THREADS / 2)
        __syncthreads();
    x[threadIdx.x] = 0;
}

/* Each thread writes a number, the block counts itself, and the last block adds all numbers up.  Without
 * BARRIER only the number of the first thread is sure to be there. */
template <bool BARRIER> __global__ void sum_of_all(float *x, float *sum, unsigned *count) {
    SHARED(int, last, [1]);
    x[blockIdx.x * THREADS + threadIdx.x] = 1;
    if (BARRIER)
        __syncthreads();
    if (threadIdx.x == 0)
        last[0] = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last[0] || threadIdx.x > 0)
        return;
    for (int i = 0; i < COUNT; i++)
        *sum += x[i];
}

/* ---- a device with a piece of memory ---------------------------------------------------------------- */

struct Memory {
    float *device, *host; /* the latter pinned */
    cudaStream_t stream;

    Memory() {
        EXPECT(cudaMalloc(reinterpret_cast<void **>(&device), COUNT * sizeof(float)) == cudaSuccess);
        EXPECT(cudaMallocHost(reinterpret_cast<void **>(&host), COUNT * sizeof(float)) == cudaSuccess);
        EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
        fill(1);
    }
    ~Memory() {
        EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
        EXPECT(cudaFreeHost(host) == cudaSuccess);
        EXPECT(cudaFree(device) == cudaSuccess);
    }
    void fill(float value) {
        for (int i = 0; i < COUNT; i++)
            host[i] = value;
    }
    cudaError_t to_device() {
        return cudaMemcpyAsync(device, host, COUNT * sizeof(float), cudaMemcpyHostToDevice, stream);
    }
    void add(float amount) {
        const Launch at = {stream};
        LAUNCH(at, add_to_all, COUNT / THREADS, device, amount);
    }
    float first() {
        float value = 0;
        cudaStreamSynchronize(stream);
        EXPECT(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
        return value;
    }
};

/* ---- tests ------------------------------------------------------------------------------------------ */

static void captured_work_is_replayed() {
    Memory memory;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    memory.to_device();
    EXPECT(memory.first() == 1);
    float amount = 2;
    EXPECT(cudaStreamBeginCapture(memory.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    memory.to_device();
    memory.add(amount);
    EXPECT(cudaStreamEndCapture(memory.stream, &graph) == cudaSuccess);
    EXPECT(memory.first() == 1); /* nothing was done */
    EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
    memory.fill(5); /* memory is read at each replay, an argument was read once */
    amount = 100;
    EXPECT(cudaGraphLaunch(executable, memory.stream) == cudaSuccess);
    EXPECT(memory.first() == 7);
    memory.fill(6);
    EXPECT(cudaGraphLaunch(executable, memory.stream) == cudaSuccess);
    EXPECT(memory.first() == 8);
    EXPECT(cudaGraphExecDestroy(executable) == cudaSuccess);
}

static void calls_that_wait_spoil_a_capture() {
    Memory memory;
    cudaGraph_t graph;
    void *more;
    for (int call = 0; call < 5; call++) {
        EXPECT(cudaStreamBeginCapture(memory.stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
        memory.add(1);
        const cudaError_t error = call == 0   ? cudaStreamSynchronize(memory.stream)
                                  : call == 1 ? cudaDeviceSynchronize()
                                  : call == 2 ? cudaMalloc(&more, 16)
                                  : call == 3 ? cudaMemset(memory.device, 0, 4)
                                              : cudaFree(memory.device);
        EXPECT(error == cudaErrorStreamCaptureUnsupported);
        EXPECT(cudaGetLastError() == error && cudaGetLastError() == cudaSuccess);
        EXPECT(cudaStreamEndCapture(memory.stream, &graph) == cudaErrorStreamCaptureInvalidated);
        cudaGetLastError();
    }
}

static void a_capture_follows_events() {
    Memory memory;
    cudaStream_t other;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    for (int joined = 0; joined < 2; joined++) {
        EXPECT(cudaStreamBeginCapture(memory.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        EXPECT(cudaEventRecord(fork, memory.stream) == cudaSuccess);
        EXPECT(cudaStreamWaitEvent(other, fork, 0) == cudaSuccess);
        EXPECT(cudaMemsetAsync(memory.device, 0, 4, other) == cudaSuccess);
        EXPECT(cudaEventRecord(join, other) == cudaSuccess);
        if (joined)
            EXPECT(cudaStreamWaitEvent(memory.stream, join, 0) == cudaSuccess);
        EXPECT(cudaStreamEndCapture(memory.stream, &graph) ==
               (joined ? cudaSuccess : cudaErrorStreamCaptureUnjoined));
        if (joined)
            cudaGraphDestroy(graph);
    }
    EXPECT(cudaEventSynchronize(join) == cudaErrorCapturedEvent);
    EXPECT(cudaEventDestroy(fork) == cudaSuccess && cudaEventDestroy(join) == cudaSuccess);
    EXPECT(cudaStreamDestroy(other) == cudaSuccess);
    cudaGetLastError();
}

/* Records where it stands in what was done. */
struct Mark {
    std::string *done;
    char name;
};

static void mark(void *data) {
    const Mark *at = static_cast<Mark *>(data);
    *at->done += at->name;
}

/* a, then b and c beside x and y, then z: in what order, the test says. */
static void branches_run_in_any_order() {
    Memory memory;
    std::string done, orders;
    cudaStream_t other;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    Mark at[] = {{&done, 'a'}, {&done, 'b'}, {&done, 'c'}, {&done, 'x'}, {&done, 'y'}, {&done, 'z'}};
    EXPECT(cudaStreamBeginCapture(memory.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    for (int i = 0; i < 6; i++) {
        if (i == 1)
            EXPECT(cudaEventRecord(fork, memory.stream) == cudaSuccess &&
                   cudaStreamWaitEvent(other, fork, 0) == cudaSuccess);
        if (i == 5)
            EXPECT(cudaEventRecord(join, other) == cudaSuccess &&
                   cudaStreamWaitEvent(memory.stream, join, 0) == cudaSuccess);
        EXPECT(cudaLaunchHostFunc(i == 1 || i == 2 ? other : memory.stream, mark, &at[i]) == cudaSuccess);
    }
    EXPECT(cudaStreamEndCapture(memory.stream, &graph) == cudaSuccess && done.empty());
    EXPECT(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    cudaGraphDestroy(graph);
    for (const char *order : {"", "last", "1", "1", "1", "1", "1", "1"}) {
        setenv("UNET_SHIM_GRAPH", order, 1);
        EXPECT(cudaGraphLaunch(executable, memory.stream) == cudaSuccess);
        cudaStreamSynchronize(memory.stream);
        orders += done + " ";
        done.clear();
    }
    unsetenv("UNET_SHIM_GRAPH");
    EXPECT(orders.compare(0, 14, "abcxyz axybcz ") == 0);
    EXPECT(orders.find("bx") != std::string::npos && orders.find("xb") != std::string::npos);
    EXPECT(cudaGraphExecDestroy(executable) == cudaSuccess && cudaStreamDestroy(other) == cudaSuccess);
    EXPECT(cudaEventDestroy(fork) == cudaSuccess && cudaEventDestroy(join) == cudaSuccess);
}

/* Work that waits for an event is done as soon as it has happened, or not before somebody asks. */
static void streams_interleave() {
    Memory memory;
    float seen[2] = {};
    cudaStream_t other;
    cudaEvent_t between;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    EXPECT(cudaEventCreate(&between) == cudaSuccess);
    cudaHostRegister(seen, sizeof seen, cudaHostRegisterDefault);
    memory.to_device();
    cudaEventRecord(between, memory.stream);
    memory.add(1);
    cudaStreamWaitEvent(other, between, 0);
    cudaMemcpyAsync(seen, memory.device, sizeof *seen, cudaMemcpyDeviceToHost, other);
    EXPECT(cudaStreamSynchronize(memory.stream) == cudaSuccess);
    EXPECT(seen[0] == (interleaves() ? 1 : lazy() ? 0 : 2));
    EXPECT(cudaStreamSynchronize(other) == cudaSuccess && seen[0] == (interleaves() ? 1 : 2));
    cudaHostUnregister(seen);
    EXPECT(cudaEventDestroy(between) == cudaSuccess && cudaStreamDestroy(other) == cudaSuccess);
}

/* Whoever changes pinned memory that a copy still reads gets what it changed; not so with other memory. */
static void lazy_streams_put_work_off() {
    Memory memory;
    memory.to_device();
    memory.fill(9);
    EXPECT(memory.first() == (lazy() ? 9 : 1));
    float pageable[COUNT] = {3};
    cudaMemcpyAsync(memory.device, pageable, sizeof pageable, cudaMemcpyHostToDevice, memory.stream);
    pageable[0] = 4;
    EXPECT(memory.first() == 3);
    cudaEvent_t start = nullptr, end = nullptr;
    float milliseconds = -1;
    EXPECT(cudaEventCreate(&start) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess);
    cudaEventRecord(start, memory.stream);
    memory.add(1);
    cudaEventRecord(end, memory.stream);
    EXPECT(cudaEventElapsedTime(&milliseconds, start, end) == (lazy() ? cudaErrorNotReady : cudaSuccess));
    EXPECT(cudaEventQuery(end) == (lazy() ? cudaErrorNotReady : cudaSuccess));
    EXPECT(cudaEventSynchronize(end) == cudaSuccess && cudaEventQuery(end) == cudaSuccess);
    EXPECT(cudaEventElapsedTime(&milliseconds, start, end) == cudaSuccess && milliseconds >= 0);
    EXPECT(memory.device[0] == 4);
    /* another stream waits for this one */
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    memory.add(1);
    cudaEventRecord(end, memory.stream);
    cudaStreamWaitEvent(other, end, 0);
    float value = 0;
    cudaMemcpyAsync(&value, memory.device, sizeof value, cudaMemcpyDeviceToHost, other);
    EXPECT(cudaStreamSynchronize(other) == cudaSuccess && value == 5);
    EXPECT(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(end) == cudaSuccess);
    EXPECT(cudaStreamDestroy(other) == cudaSuccess);
    cudaGetLastError();
}

/* Without a barrier thread 0 counts its block before the threads that run after it have written. */
static void a_block_that_counts_itself_waits() {
    float numbers[COUNT], sum[2] = {0, 0};
    unsigned counts[2] = {0, 0};
    for (float &x : numbers)
        x = 0;
    Memory memory;
    const Launch at = {memory.stream};
    constexpr auto right = sum_of_all<true>, wrong = sum_of_all<false>;
    LAUNCH_BLOCKS(at, right, COUNT / THREADS, numbers, &sum[0], &counts[0]);
    EXPECT(cudaStreamSynchronize(memory.stream) == cudaSuccess && sum[0] == COUNT && counts[0] == 0);
    for (float &x : numbers)
        x = 0;
    LAUNCH_BLOCKS(at, wrong, COUNT / THREADS, numbers, &sum[1], &counts[1]);
    EXPECT(cudaStreamSynchronize(memory.stream) == cudaSuccess && counts[1] == 0);
    EXPECT((sum[1] == COUNT) == thread_0_runs_last());
}

static void memory_is_counted() {
    size_t available, total;
    void *most, *more;
    EXPECT(cudaMemGetInfo(&available, &total) == cudaSuccess && total == MILLION && available == total);
    EXPECT(cudaMalloc(&most, MILLION) == cudaSuccess);
    EXPECT(cudaMalloc(&more, 1) == cudaErrorMemoryAllocation && more == nullptr);
    EXPECT(cudaMemGetInfo(&available, &total) == cudaSuccess && available == 0);
    EXPECT(std::isnan(static_cast<float *>(most)[5]));
    EXPECT(cudaFree(static_cast<char *>(most) + 1) == cudaErrorInvalidValue);
    EXPECT(cudaMemcpy(most, most, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    EXPECT(cudaMemset(&available, 0, 4) == cudaErrorInvalidValue);
    EXPECT(cudaMemset(static_cast<char *>(most) + MILLION - 4, 0, 5) == cudaErrorInvalidValue);
    EXPECT(cudaFree(most) == cudaSuccess && cudaFree(nullptr) == cudaSuccess);
    EXPECT(std::string(cudaGetErrorName(cudaGetLastError())) == "cudaErrorInvalidValue");
    int pinned[4];
    EXPECT(cudaHostRegister(pinned, sizeof pinned, 0) == cudaSuccess);
    EXPECT(cudaHostRegister(pinned, sizeof pinned, 0) == cudaErrorHostMemoryAlreadyRegistered);
    EXPECT(cudaHostUnregister(pinned) == cudaSuccess);
    EXPECT(cudaHostUnregister(pinned) == cudaErrorHostMemoryNotRegistered);
    cudaGetLastError();
}

static void blocks_run_as_threads() {
    Memory memory;
    const Launch at = {memory.stream};
    LAUNCH_BLOCKS(at, read_shared_first, COUNT / THREADS, memory.device);
    cudaStreamSynchronize(memory.stream);
    for (int i = 0; i < COUNT; i++)
        EXPECT(std::isnan(memory.device[i]));
    for (int i = 0; i < COUNT; i++)
        memory.device[i] = (float)i;
    LAUNCH_BLOCKS(at, reverse_block, 1, memory.device);
    LAUNCH_BLOCKS(at, sum_of_warp, 1, memory.device);
    cudaStreamSynchronize(memory.stream);
    EXPECT(memory.device[1] == 62 && memory.device[0] == 63 * 64 / 2 - 31 * 32 / 2 &&
           memory.device[32] == 31 * 32 / 2);
    LAUNCH(at, add_to_all, 0, memory.device, 1.0f);
    EXPECT(launched == cudaErrorInvalidConfiguration);
    LAUNCH(at, add_to_all, dim3(1, 65536), memory.device, 1.0f);
    EXPECT(launched == cudaErrorInvalidConfiguration);
    LAUNCH(at, add_to_all, 1, memory.device, 1.0f);
    EXPECT(launched == cudaSuccess);
}

/* The words of the program when it ends by itself. */
template <class Do> static std::string last_words(Do what) {
    int ends[2];
    if (pipe(ends) != 0)
        abort();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        what();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char text[256];
    for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0;)
        said.append(text, (size_t)got);
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) || WEXITSTATUS(status) != 0 ? said : "";
}

static bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

static void wrong_kernels_end_the_program() {
    Memory memory;
    const Launch at = {nullptr};
    const auto run = [&](auto launch) {
        return last_words([&] {
            launch();
            cudaDeviceSynchronize();
        });
    };
    EXPECT(contains(run([&] { LAUNCH_BLOCKS(at, different_barriers, 1, memory.device); }),
                    "threads wait at different barriers"));
    EXPECT(contains(run([&] { LAUNCH_BLOCKS(at, barrier_of_half, 1, memory.device); }),
                    "a barrier that some threads do not reach"));
    EXPECT(contains(run([&] { LAUNCH(at, reverse_block, 1, memory.device); }),
                    "a barrier in a kernel that was launched as one without"));
    EXPECT(contains(run([&] { LAUNCH(at, sum_of_warp, 1, memory.device); }),
                    "a shuffle in a kernel that was launched as one without"));
    EXPECT(contains(run([&] { LAUNCH(at, add_to_all, COUNT / THREADS + 1, memory.device, 1.0f); }),
                    "heap-buffer-overflow"));
    EXPECT(run([&] { LAUNCH(at, add_to_all, 1, memory.device, 1.0f); }).empty());
}

int main() {
    captured_work_is_replayed();
    calls_that_wait_spoil_a_capture();
    a_capture_follows_events();
    branches_run_in_any_order();
    lazy_streams_put_work_off();
    streams_interleave();
    a_block_that_counts_itself_waits();
    memory_is_counted();
    blocks_run_as_threads();
    wrong_kernels_end_the_program();
    printf("%s: %d failures\n", interleaves() ? "interleaved" : lazy() ? "lazily" : "at once", failures);
    return failures > 0;
}
