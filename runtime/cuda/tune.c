/* tune.c - UnetDevice.tune: which engines compute the convolutions of a program fastest, by measurement.
 *
 * Timed are the engine that runs now and the first FIRST ones that cuDNN would try, as it orders them, that
 * sum and round as the program asks and do with the workspace of the plan.  Those that cuDNN compiles when
 * a program starts are left out where others serve: each would cost every start a second or more.  An
 * engine takes the place of the planned one if it is faster by more than what one measurement differs from
 * the next.  Operands lie in the arena, so this takes no memory beside it.
 *
 * Requires: an open device, no step begun.  Provides: the file; what is in the arena is lost.
 */
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "timer.h"

enum { FIRST = 8, FIRST_COMPILED = 2, REPEATS = 20 };
static const double worth = 0.98; /* of the time of the planned engine */

typedef struct {
    UnetCuda *cuda;
    UnetCudaTimer timer;
    UnetError *error;
} Tuning;

/* Times CANDIDATE, if cuDNN accepts it; ROW becomes that if it is faster. */
static UnetStatus try_engine(const Tuning *tuning, int64_t cap, const UnetEngine *candidate,
                             UnetTimedEngine *row) {
    UnetConvolution c = row->convolution;
    UnetCudnnPlan plan;
    UnetStatus status = UNET_OK;
    double seconds = 0;
    c.engine = *candidate;
    c.engine.workspace = cap;
    const bool accepted = unet_cudnn_plan_pinned(tuning->timer.target, &c, &plan);
    if (accepted)
        status = unet_cuda_timer_run(&tuning->timer, &c, &plan, &seconds, tuning->error);
    if (accepted && status == UNET_OK && seconds < row->seconds && seconds < worth * row->planned) {
        row->convolution.engine = plan.engine;
        row->seconds = seconds;
    }
    unet_cudnn_plan_free(tuning->timer.target, &plan);
    return status;
}

static bool is_listed(const UnetCudnnCandidate *list, int32_t count, const UnetEngine *engine) {
    for (int32_t i = 0; i < count; i++)
        if (unet_same_engine(&list[i].engine, engine))
            return true;
    return false;
}

/* Whether cuDNN compiles ENGINE when a program starts. */
static bool is_compiled(const UnetCudnnCandidate *list, int32_t count, const UnetEngine *engine) {
    bool compiled = false;
    for (int32_t i = 0; i < count; i++)
        compiled = compiled || (list[i].runtime_compiled && unet_same_engine(&list[i].engine, engine));
    return compiled;
}

/* ROW has the convolution, which CAP bytes of workspace are planned for; its operands lie in the arena with
 * that, for a step lets them live together. */
static UnetStatus tune_one(const Tuning *tuning, const UnetCudnnPlan *runs, int64_t cap,
                           UnetTimedEngine *row) {
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    int32_t count = 0, tried = 0;
    row->convolution.engine = runs->engine;
    UnetStatus status =
        unet_cuda_timer_run(&tuning->timer, &row->convolution, runs, &row->planned, tuning->error);
    row->seconds = row->planned;
    if (status == UNET_OK)
        status =
            unet_cudnn_candidates(tuning->timer.target, &row->convolution, list, &count, tuning->error);
    const bool compiled = is_compiled(list, count, &runs->engine);
    for (int32_t i = 0; i < count && tried < (compiled ? FIRST_COMPILED : FIRST) && status == UNET_OK;
         i++) {
        if (list[i].runtime_compiled != compiled || list[i].engine.workspace > cap ||
            unet_same_engine(&list[i].engine, &runs->engine) || is_listed(list, i, &list[i].engine))
            continue;
        status = try_engine(tuning, cap, &list[i].engine, row);
        tried++;
    }
    return status;
}

static UnetStatus tune_all(Tuning *tuning, UnetEngineTable *table, const UnetTuneListener *listener) {
    const UnetCudaModel *tables = tuning->cuda->tables;
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < tables->nconvolution && status == UNET_OK; i++) {
        UnetTimedEngine *row = &table->row[i];
        row->convolution = tables->convolution[i];
        tuning->timer.target = &tuning->cuda->target[unet_cuda_stream_of(tables, i)];
        status =
            tune_one(tuning, unet_cuda_plan(tuning->cuda, i), tables->convolution[i].engine.workspace, row);
        table->count++;
        if (status == UNET_OK && listener != NULL)
            listener->timed(listener->context, i + 1, tables->nconvolution, row);
    }
    return status;
}

/* Of the greediest convolution. */
static int64_t most_operands(const UnetCudaModel *tables) {
    int64_t most = 0;
    for (int32_t i = 0; i < tables->nconvolution; i++) {
        const int64_t bytes = unet_cuda_operand_bytes(&tables->convolution[i]);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static UnetStatus tune(UnetCuda *cuda, UnetEngineTable *table, const UnetTuneListener *listener,
                       UnetError *error) {
    const UnetCudaModel *tables = cuda->tables;
    Tuning tuning = {
        .cuda = cuda,
        .timer = {.stream = cuda->stream, .memory = cuda->arena, .bytes = cuda->extent, .repeats = REPEATS},
        .error = error};
    if (tables->nconvolution == 0)
        return unet_fail(error, UNET_USAGE, "this network has no convolution: there is nothing to time");
    table->row = calloc((size_t)tables->nconvolution, sizeof *table->row);
    if (table->row == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the times of engines");
    UnetStatus status =
        unet_cuda_timer_open(&tuning.timer, tables->convolution[0].type, most_operands(tables), error);
    if (status == UNET_OK)
        status = unet_cuda_set_turns(cuda, true, error);
    if (status == UNET_OK)
        status = tune_all(&tuning, table, listener);
    unet_cuda_timer_close(&tuning.timer);
    return status == UNET_OK ? unet_cuda_set_turns(cuda, false, error) : status;
}

UnetStatus unet_cuda_tune(void *state, const char *path, const UnetTuneListener *listener,
                          UnetError *error) {
    UnetCuda *cuda = state;
    UnetEngineTable table = {.count = 0};
    UnetStatus status = unet_cuda_describe(&table.device, error);
    strncpy(table.model, cuda->model->name, sizeof table.model - 1);
    if (status == UNET_OK)
        status = tune(cuda, &table, listener, error);
    if (status == UNET_OK)
        status = unet_engines_write(&table, path, error);
    unet_engines_free(&table);
    return status;
}
