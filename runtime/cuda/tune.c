/* tune.c - UnetDevice.tune: measures the engines that compute the convolutions of a program fastest.
 *
 * The engine that runs now is timed, and the first FIRST ones that cuDNN would try, as it orders them, that
 * sum and round as the program asks.  Engines that cuDNN compiles when a program starts are left out if
 * others serve: each would cost every start a second or more.  An engine takes the place of the planned one
 * if it is faster by more than one measurement differs from the next.  Operands lie in the arena, so this
 * takes no memory beside it.
 *
 * A convolution has a row for the fastest engine within the workspace of the plan, which the program runs,
 * and another row if a faster engine needs more, for the plan of the next program (`unetc --engines`).
 *
 * Requires: an open device, no step begun.  Provides: the file; the contents of the arena are lost.
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

/* Times ENGINE, if cuDNN accepts it for C and the arena has room for its workspace; else SECONDS is below
 * 0. ENGINE becomes what ran. */
static UnetStatus time_engine(const Tuning *tuning, const UnetConvolution *of, UnetEngine *engine,
                              double *seconds) {
    UnetConvolution c = *of;
    UnetCudnnPlan plan;
    UnetStatus status = UNET_OK;
    c.engine = *engine;
    c.engine.workspace = tuning->timer.bytes - unet_cuda_operand_bytes(of);
    *seconds = -1;
    if (unet_cudnn_plan_pinned(tuning->timer.target, &c, &plan))
        status = unet_cuda_timer_run(&tuning->timer, &c, &plan, seconds, tuning->error);
    *engine = plan.engine;
    unet_cudnn_plan_free(tuning->timer.target, &plan);
    return status;
}

/* ROW becomes ENGINE, which takes SECONDS, if that is faster. */
static void keep_faster(UnetTimedEngine *row, const UnetEngine *engine, double seconds) {
    if (seconds >= 0 && seconds < row->seconds && seconds < worth * row->planned) {
        row->convolution.engine = *engine;
        row->seconds = seconds;
    }
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

/* ROW[0] has the convolution, which CAP bytes of workspace are planned for; ROW[1] becomes the fastest
 * engine with any workspace.  Operands lie in the arena with the workspace, for a step lets them live
 * together. */
static UnetStatus tune_one(const Tuning *tuning, const UnetCudnnPlan *runs, int64_t cap,
                           UnetTimedEngine row[2]) {
    UnetCudnnCandidate list[UNET_CUDNN_CANDIDATES];
    int32_t count = 0, tried = 0;
    const UnetConvolution c = row->convolution;
    row->convolution.engine = runs->engine;
    UnetStatus status = unet_cuda_timer_run(&tuning->timer, &c, runs, &row->planned, tuning->error);
    row->seconds = row->planned;
    row[1] = row[0];
    if (status == UNET_OK)
        status = unet_cudnn_candidates(tuning->timer.target, &c, list, &count, tuning->error);
    const bool compiled = is_compiled(list, count, &runs->engine);
    for (int32_t i = 0; i < count && tried < (compiled ? FIRST_COMPILED : FIRST) && status == UNET_OK;
         i++) {
        UnetEngine engine = list[i].engine;
        double seconds;
        if (list[i].runtime_compiled != compiled || engine.workspace > UNET_MOST_WORKSPACE ||
            unet_same_engine(&engine, &runs->engine) || is_listed(list, i, &engine))
            continue;
        status = time_engine(tuning, &c, &engine, &seconds);
        if (engine.workspace <= cap)
            keep_faster(&row[0], &engine, seconds);
        if (engine.workspace <= UNET_MOST_WORKSPACE)
            keep_faster(&row[1], &engine, seconds);
        tried++;
    }
    return status;
}

static UnetStatus tune_all(Tuning *tuning, UnetEngineTable *table, const UnetTuneListener *listener) {
    const UnetCudaModel *tables = tuning->cuda->tables;
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < tables->nconvolution && status == UNET_OK; i++) {
        UnetTimedEngine *row = &table->row[table->count];
        row->convolution = tables->convolution[i];
        tuning->timer.target = &tuning->cuda->target[unet_cuda_stream_of(tables, i)];
        status =
            tune_one(tuning, unet_cuda_plan(tuning->cuda, i), tables->convolution[i].engine.workspace, row);
        table->count += row[1].seconds < worth * row[0].seconds ? 2 : 1;
        if (status == UNET_OK && listener != NULL)
            listener->timed(listener->context, i + 1, tables->nconvolution, row);
    }
    return status;
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
    table->row = calloc(2 * (size_t)tables->nconvolution, sizeof *table->row);
    if (table->row == NULL)
        return unet_fail(error, UNET_TOO_SMALL, "no memory for the times of engines");
    UnetStatus status = unet_cuda_timer_open(&tuning.timer, tables->convolution[0].type, error);
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
