/* device.c - a GPU: one allocation, streams of steps, of their branches and of inputs, plans for the
 * convolutions.
 *
 *     open         engines of a file, streams, cuDNN, one plan for each convolution, then memory: the free
 *                  bytes must cover the arena and a reserve for code that CUDA loads later
 *     push, fetch
 *
 * A step is in step.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "state.h"

enum { RESERVE = 256 << 20, OLDEST_MAJOR = 8 };

/* ---- opening ---- */

/* The one that this thread uses. */
static int current_device(void) {
    int device = 0;
    (void)cudaGetDevice(&device);
    return device;
}

/* ISA, "sm_90", is the least that the program was compiled for.  Attributes are the same in every CUDA;
 * where properties stand is not, and their name is only for the message. */
static UnetStatus check_architecture(const char *isa, UnetError *error) {
    int major = 0, minor = 0;
    cudaError_t code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, current_device());
    if (code == cudaSuccess)
        code = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, current_device());
    UnetStatus status = unet_cuda_checked(code, "looking at the GPU", error);
    struct cudaDeviceProp device = {.name = "this GPU"};
    if (status != UNET_OK || 10 * major + minor >= strtol(isa + strlen("sm_"), NULL, 10))
        return status;
    (void)cudaGetDeviceProperties(&device, current_device());
    return unet_fail(error, UNET_TOO_SMALL, "this program was compiled for %s, but %s is sm_%d%d%s", isa,
                     device.name, major, minor,
                     major >= OLDEST_MAJOR ? ": compile it with --target=cuda:sm_80"
                                           : ", which unetc does not compile for");
}

static UnetStatus find_device(const UnetModel *model, UnetError *error) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorInsufficientDriver)
        return unet_fail(
            error, UNET_TOO_SMALL,
            "no GPU that CUDA can use was found: there is no driver, or it is older than CUDA %d.%d",
            CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    if (code == cudaErrorNoDevice || (code == cudaSuccess && count == 0))
        return unet_fail(error, UNET_TOO_SMALL, "no GPU that CUDA can use was found");
    UnetStatus status = unet_cuda_checked(code, "looking for a GPU", error);
    return status == UNET_OK ? check_architecture(model->isa, error) : status;
}

static UnetStatus choose_device(int32_t place, UnetError *error) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0)
        return UNET_OK; /* opening it says why */
    return unet_cuda_checked(cudaSetDevice(place % count), "choosing a GPU", error);
}

/* The reserve of take_arena(), and as much again for the handles and plans of cuDNN, which are made before.
 */
static int64_t free_memory(void) {
    int count = 0;
    size_t free_bytes = 0, all = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 ||
        cudaMemGetInfo(&free_bytes, &all) != cudaSuccess) {
        (void)cudaGetLastError();
        return 0;
    }
    return free_bytes > 2 * (size_t)RESERVE ? (int64_t)(free_bytes - 2 * (size_t)RESERVE) : 0;
}

/* Makes the plans of the convolutions that run in stream K, by a handle of its own: launches of one handle
 * run in their order. */
static UnetStatus make_plans(UnetCuda *cuda, int k, UnetError *error) {
    UnetStatus status = UNET_OK;
    cudnnStatus_t code = cudnnCreate(&cuda->cudnn[k]);
    if (code == CUDNN_STATUS_SUCCESS)
        code = cudnnSetStream(cuda->cudnn[k], k == 0 ? cuda->stream : cuda->second);
    if (code != CUDNN_STATUS_SUCCESS)
        return unet_fail(error, UNET_IO, "cuDNN does not start: %s", cudnnGetErrorString(code));
    cuda->target[k] = (UnetCudnnTarget){.api = &unet_cudnn_linked, .handle = cuda->cudnn[k]};
    cuda->plan[k] = calloc((size_t)cuda->tables->nconvolution + 1, sizeof *cuda->plan[k]);
    if (cuda->plan[k] == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the plans of cuDNN");
    for (int32_t i = 0; i < cuda->tables->nconvolution && status == UNET_OK; i++) {
        const UnetConvolution c = unet_cuda_pinned(cuda, i);
        if (cuda->tables->streams[i] >> k & 1)
            status = unet_cudnn_plan(&cuda->target[k], &c, &cuda->plan[k][i], error);
    }
    return status;
}

/* All else of a step waits for the first stream, so its kernels go before kernels of the second one. */
static cudaError_t make_streams(UnetCuda *cuda, bool forks) {
    int least = 0, greatest = 0;
    cudaError_t code = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (code == cudaSuccess)
        code = cudaStreamCreateWithPriority(&cuda->stream, cudaStreamNonBlocking, greatest);
    if (code == cudaSuccess)
        code = cudaStreamCreateWithFlags(&cuda->copies, cudaStreamNonBlocking);
    if (code == cudaSuccess && forks)
        code = cudaStreamCreateWithPriority(&cuda->second, cudaStreamNonBlocking, least);
    return code;
}

static UnetStatus make_context(UnetCuda *cuda, UnetError *error) {
    const bool forks = cuda->tables->forks;
    UnetStatus status = unet_cuda_checked(make_streams(cuda, forks), "making a stream", error);
    if (status == UNET_OK)
        status = make_plans(cuda, 0, error);
    if (status == UNET_OK && forks)
        status = make_plans(cuda, 1, error);
    return status == UNET_OK ? unet_cuda_set_turns(cuda, false, error) : status;
}

/* Free bytes are counted after everything else was made, so only the arena and the reserve must fit. */
static UnetStatus take_arena(UnetCuda *cuda, UnetError *error) {
    size_t free_bytes, all;
    UnetStatus status =
        unet_cuda_checked(cudaMemGetInfo(&free_bytes, &all), "asking for the memory of the GPU", error);
    if (status != UNET_OK)
        return status;
    if ((uint64_t)cuda->extent + RESERVE > free_bytes)
        return unet_fail(
            error, UNET_TOO_SMALL,
            "the model needs %.1f MiB of the GPU and %d MiB in reserve; %.1f MiB of its %.1f MiB are "
            "free. Compile it for less with `unetc --mem=SIZE`, or with a smaller --batch or --size",
            (double)cuda->extent / 0x1p20, RESERVE >> 20, (double)free_bytes / 0x1p20,
            (double)all / 0x1p20);
    status = unet_cuda_checked(cudaMalloc((void **)&cuda->arena, (size_t)cuda->extent), "taking the arena",
                               error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaMemsetAsync(cuda->arena, 0, (size_t)cuda->extent, cuda->stream),
                                   "clearing the arena", error);
    return status;
}

/* Host memory for copies: what steps are told, their results, the first samples of iterations. */
static UnetStatus take_pinned(UnetCuda *cuda, UnetError *error) {
    size_t control = 0, starts = 0, results = 0;
    for (int k = 0; k < PROGRAMS; k++) {
        const UnetCudaProgram *program = unet_cuda_program(cuda->tables, k);
        size_t bytes = unet_cuda_control_bytes(program);
        control = bytes > control ? bytes : control;
        results = (size_t)program->results_bytes > results ? (size_t)program->results_bytes : results;
        starts += (size_t)program->iterations * sizeof(int32_t);
    }
    UnetStatus status = unet_cuda_checked(
        cudaMallocHost((void **)&cuda->pinned, UNET_STEPS_AHEAD * (control + results) + starts),
        "taking host memory for copies", error);
    if (status != UNET_OK)
        return status;
    for (int i = 0; i < UNET_STEPS_AHEAD; i++) {
        char *slot = cuda->pinned + (size_t)i * (control + results);
        cuda->slot[i].control = (UnetControl *)(void *)slot;
        cuda->slot[i].result = (double *)(void *)(slot + control);
    }
    int32_t *start = (int32_t *)(void *)(cuda->pinned + UNET_STEPS_AHEAD * (control + results));
    for (int k = 0; k < PROGRAMS; k++) {
        const UnetCudaProgram *program = unet_cuda_program(cuda->tables, k);
        cuda->start[k] = start;
        for (int32_t iteration = 0; iteration < program->iterations; iteration++)
            *start++ = iteration * program->iteration_samples;
    }
    return UNET_OK;
}

static UnetStatus take_events(UnetCuda *cuda, UnetError *error) {
    cudaError_t code = cudaEventCreateWithFlags(&cuda->inputs_taken, cudaEventDisableTiming);
    if (code == cudaSuccess)
        code = cudaEventCreateWithFlags(&cuda->inputs_free, cudaEventDisableTiming);
    if (code == cudaSuccess) /* once the arena is cleared */
        code = cudaEventRecord(cuda->inputs_free, cuda->stream);
    for (int i = 0; i < UNET_STEPS_AHEAD && code == cudaSuccess; i++)
        code = cudaEventCreateWithFlags(&cuda->slot[i].through, cudaEventDisableTiming);
    if (code == cudaSuccess)
        code = cudaEventCreateWithFlags(&cuda->forked, cudaEventDisableTiming);
    if (code == cudaSuccess)
        code = cudaEventCreateWithFlags(&cuda->joined, cudaEventDisableTiming);
    return unet_cuda_checked(code, "making an event", error);
}

static size_t graphs_of(const UnetCuda *cuda, int k) {
    const UnetCudaProgram *program = unet_cuda_program(cuda->tables, k);
    return (size_t)program->npiece * (size_t)unet_cuda_graphs(program);
}

static UnetStatus make_graphs(UnetCuda *cuda, UnetError *error) {
    for (int k = 0; k < PROGRAMS; k++) {
        cuda->graph[k] = calloc(graphs_of(cuda, k) + 1, sizeof *cuda->graph[k]);
        if (cuda->graph[k] == NULL)
            return unet_fail(error, UNET_TOO_SMALL, "no memory for the graphs of steps");
    }
    return UNET_OK;
}

void unet_cuda_free_graphs(UnetCuda *cuda) {
    for (int k = 0; k < PROGRAMS; k++) {
        for (size_t i = 0; cuda->graph[k] != NULL && i < graphs_of(cuda, k); i++)
            if (cuda->graph[k][i].executable != NULL)
                (void)cudaGraphExecDestroy(cuda->graph[k][i].executable);
        free(cuda->graph[k]);
        cuda->graph[k] = NULL;
    }
}

/* After a failure neither branches nor messages have ended. */
bool unet_cuda_settle(UnetCuda *cuda) {
    enum { SECONDS = 10, LOOKS_A_SECOND = 1000 };
    const struct timespec a_while = {0, 1000000000 / LOOKS_A_SECOND};
    const cudaStream_t stream[] = {cuda->copies, cuda->stream, cuda->second, cuda->exchange.stream};
    int looks = 0;
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++)
        while (stream[i] != NULL && cudaStreamQuery(stream[i]) == cudaErrorNotReady) {
            if (looks++ > SECONDS * LOOKS_A_SECOND)
                return false;
            (void)nanosleep(&a_while, NULL);
        }
    return true;
}

static void free_events(UnetCuda *cuda) {
    const cudaEvent_t event[] = {cuda->inputs_taken, cuda->inputs_free, cuda->forked, cuda->joined};
    for (int i = 0; i < UNET_STEPS_AHEAD; i++)
        if (cuda->slot[i].through != NULL)
            (void)cudaEventDestroy(cuda->slot[i].through);
    for (size_t i = 0; i < sizeof event / sizeof *event; i++)
        if (event[i] != NULL)
            (void)cudaEventDestroy(event[i]);
}

static void free_plans(UnetCuda *cuda) {
    for (int k = 0; k < UNET_STREAMS; k++) {
        for (int32_t i = 0; cuda->plan[k] != NULL && i < cuda->tables->nconvolution; i++)
            unet_cudnn_plan_free(&cuda->target[k], &cuda->plan[k][i]);
        free(cuda->plan[k]);
    }
}

static void free_context(UnetCuda *cuda) {
    const cudaStream_t stream[] = {cuda->copies, cuda->second, cuda->stream};
    for (int k = 0; k < UNET_STREAMS; k++)
        if (cuda->cudnn[k] != NULL)
            (void)cudnnDestroy(cuda->cudnn[k]);
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++)
        if (stream[i] != NULL)
            (void)cudaStreamDestroy(stream[i]);
}

static void close_device(void *state) {
    UnetCuda *cuda = state;
    if (cuda == NULL)
        return;
    if (cuda->begun != cuda->ended) /* others may not come to these steps */
        unet_cuda_break_ranks(cuda);
    if (cuda->lost) /* whatever is freed would wait: the end of the process frees all */
        return;
    if (cuda->copies != NULL)
        (void)cudaStreamSynchronize(cuda->copies);
    if (cuda->stream != NULL)
        (void)cudaStreamSynchronize(cuda->stream); /* steps that were begun and are not wanted any more */
    if (cuda->second != NULL)
        (void)cudaStreamSynchronize(cuda->second); /* after a failure not even branches have ended, */
    if (cuda->exchange.stream != NULL)
        (void)cudaStreamSynchronize(cuda->exchange.stream); /* nor messages */
    unet_cuda_free_graphs(cuda);
    free_events(cuda);
    free_plans(cuda);
    unet_cuda_free_engines(cuda);
    unet_cuda_marks_free(&cuda->marks);
    if (cuda->registered != NULL)
        (void)cudaHostUnregister(cuda->registered);
    (void)cudaFreeHost(cuda->pinned);
    unet_cuda_free_ranks(cuda);
    (void)cudaFree(cuda->arena);
    free_context(cuda);
    unet_cuda_free_checks(cuda);
    free(cuda);
}

static UnetStatus open_device(void **state, const UnetModel *model, int64_t extent,
                              const UnetEngineFile *engines, UnetError *error) {
    UnetCuda *cuda = calloc(1, sizeof *cuda);
    const char *graphs = getenv("UNET_CUDA_GRAPH");
    *state = cuda;
    if (cuda == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the state of the GPU");
    cuda->model = model;
    cuda->tables = model->device_tables;
    cuda->extent = extent;
    cuda->captures = graphs == NULL || strcmp(graphs, "0") != 0;
    if (cuda->tables->table_bytes != UNET_CUDA_TABLE_BYTES)
        return unet_fail(error, UNET_IO, UNET_OTHER_TABLES);
    UnetStatus status = find_device(model, error);
    if (status == UNET_OK)
        status = unet_cuda_take_engines(cuda, engines, error);
    if (status == UNET_OK)
        status = make_context(cuda, error);
    if (status == UNET_OK)
        status = take_arena(cuda, error);
    if (status == UNET_OK)
        status = take_pinned(cuda, error);
    if (status == UNET_OK)
        status = take_events(cuda, error);
    if (status == UNET_OK)
        status = make_graphs(cuda, error);
    return status;
}

/* ---- copies ---- */

static UnetStatus wait(UnetCuda *cuda, UnetError *error) {
    return unet_cuda_checked(cudaStreamSynchronize(cuda->stream), "waiting for the GPU", error);
}

static UnetStatus push(void *state, const char *mirror, int64_t offset, int64_t bytes, UnetError *error) {
    UnetCuda *cuda = state;
    cuda->prepared = NULL;
    UnetStatus status =
        unet_cuda_checked(cudaMemcpyAsync(cuda->arena + offset, mirror + offset, (size_t)bytes,
                                          cudaMemcpyHostToDevice, cuda->stream),
                          "copying to the GPU", error);
    return status == UNET_OK ? wait(cuda, error) : status;
}

static UnetStatus fetch(void *state, char *mirror, int64_t offset, int64_t bytes, UnetError *error) {
    UnetCuda *cuda = state;
    UnetStatus status =
        unet_cuda_checked(cudaMemcpyAsync(mirror + offset, cuda->arena + offset, (size_t)bytes,
                                          cudaMemcpyDeviceToHost, cuda->stream),
                          "copying from the GPU", error);
    return status == UNET_OK ? wait(cuda, error) : status;
}

/* Each command has one such memory, for all of its programs. */
static void pin(void *state, void *memory, size_t bytes) {
    UnetCuda *cuda = state;
    if (cuda->registered == NULL && cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess)
        cuda->registered = memory;
    else
        (void)cudaGetLastError(); /* copies are slower then, and nothing else */
}

const UnetDevice unet_cuda_device = {.name = "cuda",
                                     .choose = choose_device,
                                     .free_memory = free_memory,
                                     .open = open_device,
                                     .close = close_device,
                                     .push = push,
                                     .fetch = fetch,
                                     .begin = unet_cuda_begin,
                                     .inputs_taken = unet_cuda_inputs_taken,
                                     .end = unet_cuda_end,
                                     .timed_run = unet_cuda_timed_run,
                                     .pin = pin,
                                     .libraries = unet_cuda_libraries,
                                     .note = unet_cuda_note,
                                     .tune = unet_cuda_tune,
                                     .uses_file = unet_cuda_uses_file,
                                     .fingerprint = unet_cuda_fingerprint,
                                     .introduce = unet_cuda_introduce,
                                     .connect = unet_cuda_connect,
                                     .place_of = unet_cuda_place_of,
                                     .read_array = unet_cuda_read_array,
                                     .take_array = unet_cuda_take_array};
