/* step.c - a step on a GPU: everything it takes is queued, and its results are waited for later.
 *
 *     begin    control | pieces in front of the loop | iterations { inputs | pieces } | pieces behind it |
 *              results
 *     end      wait for the results
 *
 * If the plan leaves the inputs of an iteration their bytes, the inputs of the next come in a stream of
 * their own, while the pieces run that do not read them.
 *
 * A step is made of pieces: one in front of a loop over samples, an iteration of the loop, one behind it;
 * and in front of all, a piece that packs weights once, in the first step after they came.  The first
 * launch of a piece launches its kernels one by one, which loads them and is an iteration like any other;
 * the second is captured as a graph, and from then on the graph is launched.  The environment variable
 * UNET_CUDA_GRAPH=0 keeps to single launches.
 *
 * Buckets of gradients are sent to other processes in a stream of their own, in the last iteration (see
 * exchange.c).
 *
 * If all samples of a step are merged on the way, several loops go over the same samples, and between
 * two of them stands a piece that merges:
 *
 *     iterations { inputs | pieces } | merge | iterations { pieces } | merge | iterations { pieces } | ...
 *
 * A tensor that several loops touch, an input too, lies there for all samples of the process.  So an
 * iteration has other places in memory than the next one, and graphs of its own.
 *
 * Steps whose results are not needed soon have a stream of their own, which the captured graph has as a
 * branch.  If parts of a step are timed, and with UNET_CUDA_BRANCHES=0, they run in the one stream with
 * all others, in the order of the plan.
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

static const char part_inputs[] = "inputs", part_step[] = "step";

/* ---- failures of launches ---- */

static void keep_failure(UnetCuda *cuda, cudaError_t code, const char *what) {
    if (code != cudaSuccess && cuda->status == UNET_OK)
        cuda->status = unet_cuda_failure(&cuda->error, code, what);
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
        cuda->status =
            unet_cudnn_execute(&cuda->target[at.branch], &cuda->tables->convolution[index],
                               &cuda->plan[at.branch][index], result, a, b, bias, workspace, &cuda->error);
    mark_launch(at);
}

/* Launches in stream TO from now on wait for all launches in FROM so far. */
static void let_wait(UnetCuda *cuda, cudaStream_t from, cudaEvent_t event, cudaStream_t to) {
    if (cuda->in_turns)
        return;
    keep_failure(cuda, cudaEventRecord(event, from), "ending a branch");
    keep_failure(cuda, cudaStreamWaitEvent(to, event, 0), "waiting for a branch");
}

UnetLaunch unet_cuda_fork(UnetLaunch at) {
    UnetCuda *cuda = at.cuda;
    UnetLaunch beside = at;
    let_wait(cuda, cuda->stream, cuda->forked, cuda->second);
    beside.branch = 1;
    beside.arrived = at.arrived + 1;
    if (!cuda->in_turns)
        beside.stream = cuda->second;
    return beside;
}

void unet_cuda_join(UnetLaunch at) {
    let_wait(at.cuda, at.cuda->second, at.cuda->joined, at.stream);
}

/* ---- checking builds ---- */

#ifdef UNET_CHECK_OPERANDS
typedef struct Check {
    char *arena;
    int64_t extent;
    const UnetSpan *span; /* NULL: the piece is through, all of the arena may be touched again */
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

void unet_cuda_free_checks(UnetCuda *cuda) {
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

void unet_cuda_free_checks(UnetCuda *cuda) {
    (void)cuda;
}
#endif

/* ---- pieces ---- */

static UnetStatus launch_piece(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetCudaPiece *piece,
                               UnetError *error) {
    UnetControl *control = (UnetControl *)(void *)(cuda->arena + tables->control);
    const UnetLaunch at = {.cuda = cuda,
                           .stream = unet_cuda_stream(cuda, piece),
                           .control = control,
                           .held = cuda->held,
                           .arrived = control->arrived,
                           .correction = control->correction,
                           .jobs = &cuda->jobs,
                           .comparisons = &cuda->comparisons,
                           .tracks = &cuda->tracks};
    cuda->status = UNET_OK;
    piece->launch(at, cuda->arena);
    end_of_checks(at);
    if (cuda->status != UNET_OK)
        *error = cuda->error;
    return cuda->status;
}

/* Launched one by one, the same kernels ran a moment ago. */
static UnetStatus not_captured(UnetStatus status, UnetError *error) {
    const UnetError why = *error;
    return unet_fail(error, status,
                     "a step cannot be captured as a graph; try UNET_CUDA_GRAPH=0, which needs none: %s",
                     why.text);
}

/* The kernels of the graph have the priorities of their streams.  A capture that fails must still be ended.
 */
static UnetStatus capture(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetCudaPiece *piece,
                          cudaGraphExec_t *executable, UnetError *error) {
    const cudaStream_t stream = unet_cuda_stream(cuda, piece);
    cudaGraph_t graph = NULL;
    UnetStatus status = unet_cuda_checked(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                                          "capturing a step", error);
    if (status != UNET_OK)
        return status;
    status = launch_piece(cuda, tables, piece, error);
    cudaError_t code = cudaStreamEndCapture(stream, &graph);
    if (status == UNET_OK)
        status = unet_cuda_checked(code, "capturing a step", error);
    if (status == UNET_OK)
        status = unet_cuda_checked(
            cudaGraphInstantiate(executable, graph, cudaGraphInstantiateFlagUseNodePriority),
            "making a graph of a step", error);
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
    return status == UNET_OK ? status : not_captured(status, error);
}

static bool exchanges(const UnetCudaPiece *piece) {
    return piece->starts_ranks || piece->sums_ranks;
}

static UnetStatus queue_piece(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetCudaPiece *piece,
                              PieceGraph *graph, UnetError *error) {
    UnetStatus status = UNET_OK;
    const bool waits = exchanges(piece) && !unet_cuda_queues_ranks(cuda);
    if (!cuda->captures || !graph->warm || cuda->timing == PARTS || waits) {
        graph->warm = true;
        return launch_piece(cuda, tables, piece, error);
    }
    if (graph->executable == NULL)
        status = capture(cuda, tables, piece, &graph->executable, error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaGraphLaunch(graph->executable, unet_cuda_stream(cuda, piece)),
                                   "launching a step", error);
    return status;
}

static UnetStatus run_piece(UnetCuda *cuda, const UnetCudaProgram *tables, const UnetCudaPiece *piece,
                            PieceGraph *graph, UnetError *error) {
    UnetStatus status = exchanges(piece) ? unet_cuda_begin_exchange(cuda, piece, error) : UNET_OK;
    if (status == UNET_OK)
        status = queue_piece(cuda, tables, piece, graph, error);
    return status == UNET_OK && exchanges(piece) ? unet_cuda_end_exchange(cuda, piece, error) : status;
}

/* ---- copies ---- */

static UnetStatus to_device(UnetCuda *cuda, int64_t offset, const void *from, size_t bytes,
                            cudaStream_t stream, UnetError *error) {
    return unet_cuda_checked(
        cudaMemcpyAsync(cuda->arena + offset, from, bytes, cudaMemcpyHostToDevice, stream),
        "copying to the GPU", error);
}

static UnetStatus inputs_are_free(UnetCuda *cuda, UnetError *error) {
    return unet_cuda_checked(cudaEventRecord(cuda->inputs_free, cuda->stream), "ending a step", error);
}

static UnetStatus mark(UnetCuda *cuda, const char *name, UnetError *error) {
    return cuda->timing == NOT_TIMED ? UNET_OK
                                     : unet_cuda_checked(unet_cuda_mark(&cuda->marks, cuda->stream, name),
                                                         "timing a step", error);
}

/* ---- the samples of this process ---- */

static int32_t last_sample(const UnetStep *step) {
    return step->last > 0 ? step->last : step->n;
}

/* The iterations [first, end) of the loop: without groups all of them, whatever samples there are. */
static int32_t first_iteration(const UnetCudaProgram *tables, const UnetStep *step) {
    return tables->group > 0 ? step->first / tables->iteration_samples : 0;
}

static int32_t end_of_iterations(const UnetCudaProgram *tables, const UnetStep *step) {
    return tables->group > 0 && step->first < last_sample(step)
               ? (last_sample(step) - 1) / tables->iteration_samples + 1
           : tables->group > 0 ? first_iteration(tables, step)
                               : tables->iterations;
}

/* Does PIECE run in the iteration of the samples from START on? */
static bool takes_part(const UnetCuda *cuda, const UnetCudaProgram *tables, const UnetCudaPiece *piece,
                       const UnetStep *step, int64_t start) {
    const int64_t end = start + tables->iteration_samples;
    const bool last = end >= last_sample(step);
    if (piece->starts_ranks)
        return last && unet_cuda_overlaps(cuda);
    return !piece->ends_group || last || end % tables->group == 0;
}

/* ---- what goes there and comes back ---- */

static UnetStatus bring_control(UnetCuda *cuda, const StepSlot *slot, const UnetCudaProgram *tables,
                                const UnetStep *step, UnetError *error) {
    static const UnetValid all = {INT32_MAX, INT32_MAX, INT32_MAX};
    UnetValid *valid = (UnetValid *)(void *)(slot->control + 1);
    *slot->control = (UnetControl){.learning_rate = step->learning_rate,
                                   .step = step->step,
                                   .seed = step->seed,
                                   .n = step->n,
                                   .start = first_iteration(tables, step) * tables->iteration_samples,
                                   .first = step->first,
                                   .last = last_sample(step),
                                   .correction = {1 - pow(tables->beta[0], (double)step->step),
                                                  1 - pow(tables->beta[1], (double)step->step)}};
    unet_count_labels(tables->labels, tables->nlabels, step, slot->control->labelled);
    for (int64_t i = 0; i < (int64_t)tables->iterations * tables->iteration_samples; i++)
        memcpy(valid[i], step->valid != NULL && i < step->n ? step->valid[i] : all, sizeof *valid);
    return to_device(cuda, tables->control, slot->control, unet_cuda_control_bytes(tables), cuda->stream,
                     error);
}

/* The place of the samples of an iteration, of SAMPLE_BYTES each. */
static UnetStaging place_of(const UnetCuda *cuda, const UnetCudaProgram *tables, int32_t i,
                            int64_t sample_bytes) {
    UnetStaging place = tables->staging[i];
    if (place.held) {
        place.offset += cuda->held * sample_bytes;
        place.bytes = tables->iteration_samples * sample_bytes;
    }
    return place;
}

/* One input of the samples from START on.  Samples that are not valid are zero: kernels work on them too,
 * and must find numbers. */
static UnetStatus bring_input(UnetCuda *cuda, UnetStaging place, const char *input, int64_t sample_bytes,
                              int64_t start, int64_t count, cudaStream_t stream, UnetError *error) {
    const int64_t used = count * sample_bytes;
    UnetStatus status = UNET_OK;
    if (count > 0)
        status = to_device(cuda, place.offset, input + start * sample_bytes, (size_t)used, stream, error);
    if (status == UNET_OK && used < place.bytes)
        status = unet_cuda_checked(
            cudaMemsetAsync(cuda->arena + place.offset + used, 0, (size_t)(place.bytes - used), stream),
            "clearing inputs", error);
    return status;
}

static UnetStatus bring_inputs(UnetCuda *cuda, const UnetProgram *program, const UnetCudaProgram *tables,
                               const UnetStep *step, int64_t start, UnetError *error) {
    const int64_t left = step->n - start;
    const int64_t count = left < 0                           ? 0
                          : left < tables->iteration_samples ? left
                                                             : tables->iteration_samples;
    const cudaStream_t stream = tables->prefetches ? cuda->copies : cuda->stream;
    cudaError_t code = tables->prefetches ? cudaStreamWaitEvent(stream, cuda->inputs_free, 0) : cudaSuccess;
    UnetStatus status = unet_cuda_checked(code, "copying to the GPU", error);
    for (int32_t i = 0; i < cuda->model->ninput && status == UNET_OK; i++) {
        const int64_t sample_bytes = program->inputs[i].sample_bytes;
        if (tables->staging[i].offset < 0)
            continue;
        const UnetStaging place = place_of(cuda, tables, i, sample_bytes);
        if (step->inputs[i] != NULL)
            status = bring_input(cuda, place, step->inputs[i], sample_bytes, start, count, stream, error);
        else if (step->arrays != NULL && step->arrays[i] != NULL)
            status = unet_cuda_bring_array(cuda, program, step, i, place, start, count, stream, error);
    }
    if (status != UNET_OK)
        return status;
    code = cudaEventRecord(cuda->inputs_taken, stream);
    if (code == cudaSuccess && tables->prefetches)
        code = cudaStreamWaitEvent(cuda->stream, cuda->inputs_taken, 0);
    status = unet_cuda_checked(code, "copying to the GPU", error);
    return status == UNET_OK ? mark(cuda, part_inputs, error) : status;
}

/* Results are few numbers: they come with the step. */
static UnetStatus bring_results(UnetCuda *cuda, const StepSlot *slot, const UnetCudaProgram *tables,
                                UnetError *error) {
    UnetStatus status = UNET_OK;
    if (tables->results_bytes > 0)
        status = unet_cuda_checked(cudaMemcpyAsync(slot->result, cuda->arena + tables->results,
                                                   (size_t)tables->results_bytes, cudaMemcpyDeviceToHost,
                                                   cuda->stream),
                                   "copying from the GPU", error);
    if (status == UNET_OK)
        status = unet_cuda_checked(cudaEventRecord(slot->through, cuda->stream), "ending a step", error);
    return status;
}

/* ---- a step ---- */

/* A piece that runs once for many steps is part of the first of them. */
static UnetStatus run_outside(UnetCuda *cuda, int k, const UnetProgram *program, int i, UnetError *error) {
    const UnetCudaProgram *tables = unet_cuda_program(cuda->tables, k);
    if (tables->piece[i].once && cuda->prepared == program)
        return UNET_OK;
    PieceGraph *graph = &cuda->graph[k][i * unet_cuda_graphs(tables)];
    UnetStatus status = run_piece(cuda, tables, &tables->piece[i], graph, error);
    return status == UNET_OK && cuda->timing == WHOLE_STEP ? mark(cuda, part_step, error) : status;
}

/* No piece in front of FIRST is part of a loop over samples. */
static bool is_first_loop(const UnetCudaProgram *tables, int first) {
    while (first > 0 && !tables->piece[first - 1].in_iteration)
        first--;
    return first == 0;
}

/* The iterations of the loop, made of PIECE[0..COUNT).  The first loop brings inputs for all. */
static UnetStatus run_turns(UnetCuda *cuda, int k, const UnetProgram *program, const UnetStep *step,
                            int first, int count, UnetError *error) {
    const UnetCudaProgram *tables = unet_cuda_program(cuda->tables, k);
    const int32_t begin = first_iteration(tables, step), end = end_of_iterations(tables, step),
                  graphs = unet_cuda_graphs(tables);
    const bool brings = is_first_loop(tables, first);
    UnetStatus status = UNET_OK;
    for (int32_t iteration = begin; iteration < end && status == UNET_OK; iteration++) {
        const int64_t start = cuda->start[k][iteration];
        cuda->held = (int32_t)start - step->first;
        if (iteration > begin || !brings)
            status = to_device(cuda, tables->control + (int64_t)offsetof(UnetControl, start),
                               &cuda->start[k][iteration], sizeof(int32_t), cuda->stream, error);
        if (status == UNET_OK && brings)
            status = bring_inputs(cuda, program, tables, step, start, error);
        for (int i = first; i < first + count && status == UNET_OK; i++) {
            PieceGraph *graph = &cuda->graph[k][i * graphs + (iteration - begin) % graphs];
            if (!takes_part(cuda, tables, &tables->piece[i], step, start))
                continue;
            status = run_piece(cuda, tables, &tables->piece[i], graph, error);
            if (status == UNET_OK && tables->piece[i].frees_inputs)
                status = inputs_are_free(cuda, error);
        }
        if (status == UNET_OK && cuda->timing == WHOLE_STEP)
            status = mark(cuda, part_step, error);
    }
    return status;
}

static UnetStatus run_pieces(UnetCuda *cuda, int k, const UnetProgram *program, const UnetStep *step,
                             UnetError *error) {
    const UnetCudaProgram *tables = unet_cuda_program(cuda->tables, k);
    UnetStatus status = UNET_OK;
    for (int i = 0; i < tables->npiece && status == UNET_OK;) {
        int count = 0;
        while (i + count < tables->npiece && tables->piece[i + count].in_iteration)
            count++;
        if (count > 0) {
            status = run_turns(cuda, k, program, step, i, count, error);
            i += count;
            continue;
        }
        status = run_outside(cuda, k, program, i++, error);
    }
    return status;
}

/* A kernel that failed is noticed by whatever call comes next: then the stream tells what it was. */
static UnetStatus first_failure(UnetCuda *cuda, UnetStatus status, UnetError *error) {
    UnetError found;
    unet_cuda_break_ranks(cuda);
    if (cuda->lost)
        return status;
    UnetStatus earlier =
        unet_cuda_checked(cudaStreamSynchronize(cuda->stream), "the GPU stopped in a step", &found);
    if (earlier == UNET_OK)
        return status;
    *error = found;
    return earlier;
}

UnetStatus unet_cuda_begin(void *state, const UnetProgram *program, const UnetStep *step,
                           UnetError *error) {
    UnetCuda *cuda = state;
    const UnetModel *model = cuda->model;
    const int k = program == model->train ? 0 : program == model->eval ? 1 : 2;
    StepSlot *slot = &cuda->slot[cuda->begun % UNET_STEPS_AHEAD];
    const UnetCudaProgram *tables = unet_cuda_program(cuda->tables, k);
    if (cuda->begun - cuda->ended >= UNET_STEPS_AHEAD)
        return unet_fail(error, UNET_BUG, "a step is begun while %d have not ended", UNET_STEPS_AHEAD);
    slot->tables = tables;
    unet_cuda_begin_ranks(cuda, tables, step);
    UnetStatus status = step->arrays == NULL ? UNET_OK : unet_cuda_settle_arrays(error);
    if (status == UNET_OK)
        status = mark(cuda, "start", error);
    if (status == UNET_OK)
        status = bring_control(cuda, slot, tables, step, error);
    if (status == UNET_OK)
        status = run_pieces(cuda, k, program, step, error);
    cuda->prepared = status == UNET_OK ? program : NULL;
    if (status == UNET_OK && !tables->prefetches)
        status = inputs_are_free(cuda, error);
    if (status == UNET_OK)
        status = bring_results(cuda, slot, tables, error);
    cuda->begun++;
    return status == UNET_OK ? status : first_failure(cuda, status, error);
}

UnetStatus unet_cuda_inputs_taken(void *state, UnetError *error) {
    UnetCuda *cuda = state;
    return unet_cuda_await(cuda, cuda->inputs_taken, error);
}

UnetStatus unet_cuda_end(void *state, char *mirror, UnetError *error) {
    UnetCuda *cuda = state;
    const StepSlot *slot = &cuda->slot[cuda->ended % UNET_STEPS_AHEAD];
    UnetStatus status = unet_cuda_await(cuda, slot->through, error);
    if (status == UNET_OK)
        status = unet_cuda_tell_exchanges(slot, error);
    if (status == UNET_OK && slot->tables->results_bytes > 0)
        memcpy(mirror + slot->tables->results, slot->result, (size_t)slot->tables->results_bytes);
    cuda->ended++;
    return status;
}

UnetStatus unet_cuda_timed_run(void *state, const UnetProgram *program, const UnetStep *step, bool parts,
                               const UnetDeviceTime **time, int32_t *count, UnetError *error) {
    UnetCuda *cuda = state;
    cuda->timing = parts ? PARTS : WHOLE_STEP;
    cuda->marks.count = 0;
    UnetStatus status = unet_cuda_set_turns(cuda, parts, error);
    if (status == UNET_OK)
        status = unet_cuda_begin(cuda, program, step, error);
    if (status == UNET_OK)
        status = unet_cuda_end(cuda, step->arena, error);
    cuda->timing = NOT_TIMED;
    if (status == UNET_OK)
        status = unet_cuda_set_turns(cuda, false, error);
    if (status == UNET_OK)
        status = unet_cuda_checked(unet_cuda_marks_read(&cuda->marks), "timing a step", error);
    *time = cuda->marks.time + 1; /* behind "start" */
    *count = status == UNET_OK ? cuda->marks.count - 1 : 0;
    return status;
}
