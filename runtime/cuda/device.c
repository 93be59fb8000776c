/* device.c - a program on a GPU: one allocation, one stream, a step captured once and replayed.
 *
 *     open     stream, cuDNN, one plan for each convolution, then memory: what is free must cover the arena
 *              and a reserve for what CUDA loads later
 *     run      control and inputs to the device | launches | results back
 *
 * The first step of a program launches its kernels one by one, which loads them and is a step like any
 * other; the second is captured as a graph, and from then on the graph is launched.  The environment
 * variable UNET_CUDA_GRAPH=0 keeps to single launches.
 */
#include "unet/cuda_device.h"

#include <cudnn_graph.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convolution.h"
#include "marks.h"

enum { PROGRAMS = 3, RESERVE = 256 << 20 };
typedef enum { NOT_TIMED, WHOLE_STEP, PARTS } Timing;

struct UnetCuda {
    const UnetModel *model;
    const UnetCudaModel *tables;
    char *arena;
    int64_t extent;
    cudaStream_t stream;
    cudnnHandle_t cudnn;
    UnetCudnnTarget target;
    UnetCudnnPlan *plan; /* one per convolution */
    char *pinned;        /* host memory: control, then results */
    void *registered;    /* memory of the caller that copies may read directly */
    cudaGraphExec_t graph[PROGRAMS];
    bool warm[PROGRAMS], captures;
    Timing timing; /* of the step that runs */
    UnetCudaMarks marks;
    UnetStatus status; /* of the launches of a step: the first failure */
    UnetError error;
    struct Check *checks; /* of a checking build, the last one first */
};

/* ---- failures ---- */

static UnetStatus cuda_failure(UnetError *error, cudaError_t code, const char *what) {
    UnetStatus status = code == cudaErrorMemoryAllocation ? UNET_TOO_SMALL : UNET_IO;
    return unet_fail(error, status, "%s: %s (%s)", what, cudaGetErrorString(code), cudaGetErrorName(code));
}

static UnetStatus checked(cudaError_t code, const char *what, UnetError *error) {
    return code == cudaSuccess ? UNET_OK : cuda_failure(error, code, what);
}

static void keep_failure(UnetCuda *cuda, cudaError_t code, const char *what) {
    if (code != cudaSuccess && cuda->status == UNET_OK)
        cuda->status = cuda_failure(&cuda->error, code, what);
}

static void mark_launch(UnetLaunch at) {
    UnetCuda *cuda = at.cuda;
    if (cuda->timing == PARTS && at.step != NULL)
        keep_failure(cuda, unet_cuda_mark(&cuda->marks, at.stream, at.step), "timing a step");
}

void unet_cuda_check(UnetLaunch at, cudaError_t error, const char *launcher) {
    keep_failure(at.cuda, error, launcher);
    mark_launch(at);
}

void unet_cuda_convolution(UnetLaunch at, int32_t index, void *result, const void *a, const void *b,
                           const void *bias, void *workspace) {
    UnetCuda *cuda = at.cuda;
    if (cuda->status == UNET_OK)
        cuda->status = unet_cudnn_execute(&cuda->target, &cuda->tables->convolution[index],
                                          &cuda->plan[index], result, a, b, bias, workspace, &cuda->error);
    mark_launch(at);
}

/* ---- checking builds ---- */

#ifdef UNET_CHECK_OPERANDS
typedef struct Check {
    char *arena;
    int64_t extent;
    const UnetSpan *span; /* NULL: the step is through, all of the arena may be touched again */
    struct Check *next;
} Check;

static void check_operands(void *data) {
    const Check *check = data;
    if (check->span == NULL)
        unet_unpoison(check->arena, check->extent);
    else
        unet_operands(check->arena, check->extent, check->span);
}

/* In the order of the stream, and again whenever a graph is replayed; so it is kept to the end. */
void unet_cuda_operands(UnetLaunch at, const UnetSpan *span) {
    Check *check = malloc(sizeof *check);
    if (check == NULL)
        abort();
    *check = (Check){at.cuda->arena, at.cuda->extent, span, at.cuda->checks};
    at.cuda->checks = check;
    unet_cuda_check(at, cudaLaunchHostFunc(at.stream, check_operands, check), __func__);
}

static void end_of_checks(UnetLaunch at) {
    unet_cuda_operands(at, NULL);
}

static void free_checks(UnetCuda *cuda) {
    while (cuda->checks != NULL) {
        Check *check = cuda->checks;
        cuda->checks = check->next;
        free(check);
    }
}
#else
static void end_of_checks(UnetLaunch at) {
    (void)at;
}

static void free_checks(UnetCuda *cuda) {
    (void)cuda;
}
#endif

/* ---- opening ---- */

static UnetStatus find_device(UnetError *error) {
    int count = 0;
    cudaError_t code = cudaGetDeviceCount(&count);
    if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ||
        (code == cudaSuccess && count == 0))
        return unet_fail(error, UNET_TOO_SMALL, "no GPU that CUDA can use was found: %s",
                         code == cudaSuccess ? "there is none" : cudaGetErrorString(code));
    return checked(code, "looking for a GPU", error);
}

static UnetStatus make_plans(UnetCuda *cuda, UnetError *error) {
    UnetStatus status = UNET_OK;
    cuda->target = (UnetCudnnTarget){.api = &unet_cudnn_linked, .handle = cuda->cudnn};
    cuda->plan = calloc((size_t)cuda->tables->nconvolution + 1, sizeof *cuda->plan);
    if (cuda->plan == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the plans of cuDNN");
    for (int32_t i = 0; i < cuda->tables->nconvolution && status == UNET_OK; i++)
        status = unet_cudnn_plan(&cuda->target, &cuda->tables->convolution[i], &cuda->plan[i], error);
    return status;
}

static UnetStatus make_context(UnetCuda *cuda, UnetError *error) {
    UnetStatus status =
        checked(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking), "making a stream", error);
    if (status != UNET_OK)
        return status;
    cudnnStatus_t code = cudnnCreate(&cuda->cudnn);
    if (code == CUDNN_STATUS_SUCCESS)
        code = cudnnSetStream(cuda->cudnn, cuda->stream);
    if (code != CUDNN_STATUS_SUCCESS)
        return unet_fail(error, UNET_IO, "cuDNN does not start: %s", cudnnGetErrorString(code));
    return make_plans(cuda, error);
}

/* What is free is counted after everything else was made, so only the arena and the reserve must fit. */
static UnetStatus take_arena(UnetCuda *cuda, UnetError *error) {
    size_t free_bytes, all;
    UnetStatus status =
        checked(cudaMemGetInfo(&free_bytes, &all), "asking for the memory of the GPU", error);
    if (status != UNET_OK)
        return status;
    if ((uint64_t)cuda->extent + RESERVE > free_bytes)
        return unet_fail(
            error, UNET_TOO_SMALL,
            "the model needs %.1f MiB of the GPU (and %d MiB in reserve), which has %.1f MiB free "
            "of %.1f MiB; compile it for less with `unetc --mem=SIZE`, or with a smaller --batch "
            "or --size",
            (double)cuda->extent / 0x1p20, RESERVE >> 20, (double)free_bytes / 0x1p20,
            (double)all / 0x1p20);
    status = checked(cudaMalloc((void **)&cuda->arena, (size_t)cuda->extent), "taking the arena", error);
    if (status == UNET_OK)
        status = checked(cudaMemsetAsync(cuda->arena, 0, (size_t)cuda->extent, cuda->stream),
                         "clearing the arena", error);
    return status;
}

static const UnetCudaProgram *cuda_program(const UnetCudaModel *tables, int k) {
    const UnetCudaProgram *const list[PROGRAMS] = {&tables->train, &tables->eval, &tables->predict};
    return list[k];
}

static size_t control_bytes(const UnetCudaProgram *program) {
    return sizeof(UnetControl) + (size_t)program->samples * 3 * sizeof(int32_t);
}

static UnetStatus take_pinned(UnetCuda *cuda, UnetError *error) {
    size_t control = 0;
    for (int k = 0; k < PROGRAMS; k++) {
        const UnetCudaProgram *program = cuda_program(cuda->tables, k);
        if (program->steps != NULL && control_bytes(program) > control)
            control = control_bytes(program);
    }
    size_t results = (size_t)cuda->model->nresult * sizeof(double);
    return checked(cudaMallocHost((void **)&cuda->pinned, (control + 7) / 8 * 8 + results),
                   "taking host memory for copies", error);
}

static void close_device(void *state) {
    UnetCuda *cuda = state;
    if (cuda == NULL)
        return;
    for (int k = 0; k < PROGRAMS; k++)
        if (cuda->graph[k] != NULL)
            (void)cudaGraphExecDestroy(cuda->graph[k]);
    for (int32_t i = 0; cuda->plan != NULL && i < cuda->tables->nconvolution; i++)
        unet_cudnn_plan_free(&cuda->target, &cuda->plan[i]);
    free(cuda->plan);
    unet_cuda_marks_free(&cuda->marks);
    if (cuda->registered != NULL)
        (void)cudaHostUnregister(cuda->registered);
    (void)cudaFreeHost(cuda->pinned);
    (void)cudaFree(cuda->arena);
    if (cuda->cudnn != NULL)
        (void)cudnnDestroy(cuda->cudnn);
    if (cuda->stream != NULL)
        (void)cudaStreamDestroy(cuda->stream);
    free_checks(cuda);
    free(cuda);
}

static UnetStatus open_device(void **state, const UnetModel *model, int64_t extent, UnetError *error) {
    UnetCuda *cuda = calloc(1, sizeof *cuda);
    const char *graphs = getenv("UNET_CUDA_GRAPH");
    *state = cuda;
    if (cuda == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the state of the GPU");
    cuda->model = model;
    cuda->tables = model->cuda;
    cuda->extent = extent;
    cuda->captures = graphs == NULL || strcmp(graphs, "0") != 0;
    UnetStatus status = find_device(error);
    if (status == UNET_OK)
        status = make_context(cuda, error);
    if (status == UNET_OK)
        status = take_arena(cuda, error);
    if (status == UNET_OK)
        status = take_pinned(cuda, error);
    return status;
}

/* ---- copies ---- */

static UnetStatus wait(UnetCuda *cuda, UnetError *error) {
    return checked(cudaStreamSynchronize(cuda->stream), "waiting for the GPU", error);
}

static UnetStatus push(void *state, const char *mirror, int64_t offset, int64_t bytes, UnetError *error) {
    UnetCuda *cuda = state;
    UnetStatus status = checked(cudaMemcpyAsync(cuda->arena + offset, mirror + offset, (size_t)bytes,
                                                cudaMemcpyHostToDevice, cuda->stream),
                                "copying to the GPU", error);
    return status == UNET_OK ? wait(cuda, error) : status;
}

static UnetStatus fetch(void *state, char *mirror, int64_t offset, int64_t bytes, UnetError *error) {
    UnetCuda *cuda = state;
    UnetStatus status = checked(cudaMemcpyAsync(mirror + offset, cuda->arena + offset, (size_t)bytes,
                                                cudaMemcpyDeviceToHost, cuda->stream),
                                "copying from the GPU", error);
    return status == UNET_OK ? wait(cuda, error) : status;
}

static void pin(void *state, void *memory, size_t bytes) {
    UnetCuda *cuda = state;
    if (cuda->registered == NULL && cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess)
        cuda->registered = memory;
    else
        (void)cudaGetLastError(); /* copies are slower then, and nothing else */
}

/* ---- a step ---- */

static UnetStatus bring_control(UnetCuda *cuda, const UnetProgram *program, const UnetCudaProgram *tables,
                                const UnetStep *step, UnetError *error) {
    UnetControl *control = (UnetControl *)(void *)cuda->pinned;
    int32_t(*valid)[3] = (int32_t(*)[3])(void *)(control + 1);
    *control = (UnetControl){.learning_rate = step->learning_rate, .step = step->step, .n = step->n};
    for (int64_t i = 0; i < tables->samples; i++)
        memcpy(valid[i], step->valid != NULL && i < step->n ? step->valid[i] : program->size,
               sizeof *valid);
    return checked(cudaMemcpyAsync(cuda->arena + tables->control, control, control_bytes(tables),
                                   cudaMemcpyHostToDevice, cuda->stream),
                   "copying to the GPU", error);
}

/* Samples that are not valid are zero: kernels work on them too, and must find numbers. */
static UnetStatus bring_inputs(UnetCuda *cuda, const UnetProgram *program, const UnetCudaProgram *tables,
                               const UnetStep *step, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < cuda->model->ninput && status == UNET_OK; i++) {
        const UnetStaging *staging = &tables->staging[i];
        int64_t used = step->n * program->inputs[i].sample_bytes;
        if (staging->offset < 0 || step->inputs[i] == NULL)
            continue;
        char *to = cuda->arena + staging->offset;
        status = checked(
            cudaMemcpyAsync(to, step->inputs[i], (size_t)used, cudaMemcpyHostToDevice, cuda->stream),
            "copying to the GPU", error);
        if (status == UNET_OK && used < staging->bytes)
            status = checked(cudaMemsetAsync(to + used, 0, (size_t)(staging->bytes - used), cuda->stream),
                             "clearing inputs", error);
    }
    return status;
}

static UnetStatus launch_steps(UnetCuda *cuda, const UnetCudaProgram *tables, UnetError *error) {
    const UnetLaunch at = {.cuda = cuda,
                           .stream = cuda->stream,
                           .control = (const UnetControl *)(const void *)(cuda->arena + tables->control)};
    cuda->status = UNET_OK;
    tables->steps(at, cuda->arena);
    end_of_checks(at);
    if (cuda->status != UNET_OK)
        *error = cuda->error;
    return cuda->status;
}

/* A capture that fails must still be ended. */
static UnetStatus capture(UnetCuda *cuda, const UnetCudaProgram *tables, cudaGraphExec_t *executable,
                          UnetError *error) {
    cudaGraph_t graph = NULL;
    UnetStatus status = checked(cudaStreamBeginCapture(cuda->stream, cudaStreamCaptureModeThreadLocal),
                                "capturing a step", error);
    if (status != UNET_OK)
        return status;
    status = launch_steps(cuda, tables, error);
    cudaError_t code = cudaStreamEndCapture(cuda->stream, &graph);
    if (status == UNET_OK)
        status = checked(code, "capturing a step", error);
    if (status == UNET_OK)
        status = checked(cudaGraphInstantiate(executable, graph, 0), "making a graph of a step", error);
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
    return status;
}

static UnetStatus run_steps(UnetCuda *cuda, int k, UnetError *error) {
    const UnetCudaProgram *tables = cuda_program(cuda->tables, k);
    UnetStatus status = UNET_OK;
    if (!cuda->captures || !cuda->warm[k] || cuda->timing == PARTS) {
        cuda->warm[k] = true;
        return launch_steps(cuda, tables, error);
    }
    if (cuda->graph[k] == NULL)
        status = capture(cuda, tables, &cuda->graph[k], error);
    if (status == UNET_OK)
        status = checked(cudaGraphLaunch(cuda->graph[k], cuda->stream), "launching a step", error);
    return status;
}

/* Results are few numbers: they come with the step. */
static UnetStatus bring_results(UnetCuda *cuda, const UnetProgram *program, const UnetCudaProgram *tables,
                                const UnetStep *step, UnetError *error) {
    double *result = (double *)(void *)(cuda->pinned + (control_bytes(tables) + 7) / 8 * 8);
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < cuda->model->nresult && status == UNET_OK; i++)
        if (program->result_offsets[i] >= 0)
            status = checked(cudaMemcpyAsync(&result[i], cuda->arena + program->result_offsets[i],
                                             sizeof *result, cudaMemcpyDeviceToHost, cuda->stream),
                             "copying from the GPU", error);
    if (status == UNET_OK)
        status = wait(cuda, error);
    for (int32_t i = 0; i < cuda->model->nresult && status == UNET_OK; i++)
        if (program->result_offsets[i] >= 0)
            memcpy(step->arena + program->result_offsets[i], &result[i], sizeof *result);
    return status;
}

static UnetStatus mark(UnetCuda *cuda, const char *name, UnetError *error) {
    return cuda->timing == NOT_TIMED
               ? UNET_OK
               : checked(unet_cuda_mark(&cuda->marks, cuda->stream, name), "timing a step", error);
}

static UnetStatus run(void *state, const UnetProgram *program, const UnetStep *step, UnetError *error) {
    UnetCuda *cuda = state;
    const UnetModel *model = cuda->model;
    int k = program == model->train ? 0 : program == model->eval ? 1 : 2;
    const UnetCudaProgram *tables = cuda_program(cuda->tables, k);
    UnetStatus status = mark(cuda, "start", error);
    if (status == UNET_OK)
        status = bring_control(cuda, program, tables, step, error);
    if (status == UNET_OK)
        status = bring_inputs(cuda, program, tables, step, error);
    if (status == UNET_OK)
        status = mark(cuda, "inputs", error);
    if (status == UNET_OK)
        status = run_steps(cuda, k, error);
    if (status == UNET_OK && cuda->timing == WHOLE_STEP)
        status = mark(cuda, "step", error);
    if (status == UNET_OK)
        status = bring_results(cuda, program, tables, step, error);
    return status;
}

static UnetStatus timed_run(void *state, const UnetProgram *program, const UnetStep *step, bool parts,
                            const UnetDeviceTime **time, int32_t *count, UnetError *error) {
    UnetCuda *cuda = state;
    cuda->timing = parts ? PARTS : WHOLE_STEP;
    cuda->marks.count = 0;
    UnetStatus status = run(state, program, step, error);
    cuda->timing = NOT_TIMED;
    if (status == UNET_OK)
        status = checked(unet_cuda_marks_read(&cuda->marks), "timing a step", error);
    int32_t before = parts ? 2 : 1; /* "start" and "inputs" */
    *time = cuda->marks.time + before;
    *count = status == UNET_OK ? cuda->marks.count - before : 0;
    return status;
}

const UnetDevice unet_cuda_device = {.name = "cuda",
                                     .open = open_device,
                                     .close = close_device,
                                     .push = push,
                                     .fetch = fetch,
                                     .run = run,
                                     .timed_run = timed_run,
                                     .pin = pin};
