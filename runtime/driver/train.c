/* train.c - the command `train`: from data and initial weights to trained weights.
 *
 * Everything is taken before the first step: datasets, arena, loader, log.  The loop then only waits for a
 * batch, runs the program, looks at the loss and, when it is time, evaluates and saves:
 *
 *     step -> loss finite? -> progress -> log at the end of an epoch -> evaluate -> save -> signal?
 *
 * It allocates nothing.  What happens is a function of the seed and the step alone, so a run that was
 * killed and resumed from its checkpoint ends with the same weights as one that was not.
 */
#include "driver.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"
#include "progress.h"
#include "unet/log.h"
#include "unet/parameters.h"
#include "unet/words.h"

enum {
    IDENTITY_BATCHES = 8, /* measured in training to have something to compare with */
    NORM_NUMBERS = 2      /* in front of those of a tally: the sum of gradients' norms, and of how many */
};

typedef struct {
    Driver *driver;
    const UnetModel *model;
    const UnetTraining *training;
    UnetDataset *data, *eval_data; /* eval_data NULL: no evaluation */
    UnetLoader *loader;
    UnetStream stream;
    Device device;
    int64_t beside; /* bytes that the loader takes at most */
    RunFolder folder;
    UnetLog log;
    Board *board; /* NULL: no TensorBoard */
    UnetProgress progress;
    RunState state;
    LossScale scale;
    bool has_warned;          /* of the scale */
    Tally train, shown, eval; /* since the last row of the log, since the last progress line, evaluation */
    double *value, *identity; /* of a row of the log, one per result */
    double *unlogged;         /* what a checkpoint has of the sums since the last row */

    int64_t steps_per_epoch, steps;
    int64_t eval_every, save_every; /* in steps; 0: only at the end */
    int64_t saved;                  /* step of the checkpoint on disk */

    int64_t first_step;
    int64_t identity_end;              /* the batches up to this step are measured */
    int64_t begun;                     /* steps; as many as ended, or one more */
    int32_t samples[UNET_STEPS_AHEAD]; /* of the steps that were begun last */
    double norms;                      /* sum of the gradients' norms since the last row of the log, */
    int64_t normed;                    /*   of so many steps; those that overflowed have none */
    int64_t images;                    /* since the start of this process */
    double start;                      /* time of the first step */
    double training_seconds;           /* without evaluations and saves */
} Run;

/* ---- before the first step -------------------------------------------------------------------- */

/* COUNT in UNIT as a number of steps, at most INT64_MAX. */
static int64_t in_steps(const Run *run, int64_t count, UnetUnit unit) {
    int64_t steps;
    if (unit == UNET_STEPS)
        return count;
    if (__builtin_mul_overflow(count, run->steps_per_epoch, &steps))
        return INT64_MAX;
    return steps;
}

static int32_t batch_of(const Run *run) {
    return run->state.batch > 0 ? (int32_t)run->state.batch : run->model->train->batch;
}

static UnetStatus plan_schedule(Run *run) {
    const UnetOptions *options = &run->driver->options;
    const UnetTraining *training = run->training;
    int64_t batches = unet_stream_batches(&run->stream);
    if (batches <= 0)
        return unet_fail(&run->driver->error, UNET_IO,
                         "%" PRId32 " sample%s not fill one batch of %" PRId32
                         ", and `tail \"drop\"` drops the rest",
                         unet_dataset_samples(run->data),
                         unet_dataset_samples(run->data) == 1 ? " does" : "s do", batch_of(run));
    run->steps_per_epoch = training->steps_per_epoch > 0 ? training->steps_per_epoch : batches;
    run->steps = in_steps(run, training->duration, training->duration_unit);
    if (options->epochs > 0)
        run->steps = in_steps(run, options->epochs, UNET_EPOCHS);
    if (options->steps > 0)
        run->steps = options->steps;
    run->eval_every = in_steps(run, training->eval_every, training->eval_unit);
    run->save_every = in_steps(run, training->save_every, training->save_unit);
    if (options->checkpoint_every > 0)
        run->save_every = options->checkpoint_every;
    return UNET_OK;
}

static UnetStatus open_data(Run *run) {
    Driver *driver = run->driver;
    const char *folder = driver->options.data != NULL ? driver->options.data : ".";
    if (!unet_dataset_exists(run->model, UNET_TRAINING))
        return unet_fail(&driver->error, UNET_USAGE, "%s has no `data` section to train with",
                         run->model->source);
    UnetStatus status = unet_dataset_open(&run->data, run->model, UNET_TRAINING, folder, &driver->error);
    if (status == UNET_IO)
        unet_fail_more(&driver->error, "; `%s check-data` lists all that is wrong", driver->program);
    if (status == UNET_OK && driver->options.eval_data != NULL && !evaluation_exists(driver))
        return unet_fail(
            &driver->error, UNET_USAGE,
            "--eval-data: this program does not evaluate: add a section `eval { every 1 }` to %s",
            run->model->source);
    if (status == UNET_OK && evaluation_exists(driver))
        status = evaluation_open(driver, &run->eval_data);
    if (status == UNET_OK)
        unet_dataset_normalize(run->data, driver->normal);
    if (status == UNET_OK && run->eval_data != NULL)
        unet_dataset_normalize(run->eval_data, driver->normal);
    return status;
}

static UnetStatus take_memory(Run *run) {
    UnetError *error = &run->driver->error;
    const UnetDataset *datasets[] = {run->data, run->eval_data};
    int32_t ndataset = run->eval_data != NULL ? 2 : 1;
    int32_t threads = unet_loader_threads(run->model);
    int32_t slots =
        loader_slots(run->model, datasets, ndataset, threads, run->model->arena_bytes, &run->beside);
    UnetStatus status = device_open(&run->device, run->model, run->model->arena_bytes, run->beside, error);
    if (status == UNET_OK)
        status = unet_loader_create(&run->loader, run->model, datasets, ndataset, threads, slots, error);
    if (status == UNET_OK)
        device_reads_from(&run->device, run->loader);
    Tally *const tallies[] = {&run->train, &run->shown, &run->eval};
    for (int i = 0; i < 3 && status == UNET_OK; i++)
        status = tally_create(tallies[i], run->model, error);
    size_t results = (size_t)run->model->nresult + 1; /* never nothing */
    run->value = calloc(results, sizeof *run->value);
    run->identity = calloc(results, sizeof *run->identity);
    run->unlogged = calloc((size_t)(NORM_NUMBERS + tally_numbers(run->model)), sizeof *run->unlogged);
    if (status == UNET_OK && (run->value == NULL || run->identity == NULL || run->unlogged == NULL))
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a row of the log");
    return status == UNET_OK ? device_try_threads(&run->device, run->driver->threads, error) : status;
}

static void store_unlogged(Run *run) {
    run->unlogged[0] = run->norms;
    run->unlogged[1] = (double)run->normed;
    tally_store(&run->train, run->model->train, run->unlogged + NORM_NUMBERS);
}

/* So that the log's next row is that of a run which was not interrupted. */
static UnetStatus restore_unlogged(Run *run) {
    if (!run->state.has_unlogged) {
        run->identity_end += run->state.step;
        return UNET_OK;
    }
    run->norms = run->unlogged[0];
    const bool counts = run->unlogged[1] >= 0 && run->unlogged[1] <= 0x1p53;
    run->normed = counts ? (int64_t)run->unlogged[1] : 0;
    if (counts && tally_restore(&run->train, run->model->train, run->unlogged + NORM_NUMBERS))
        return UNET_OK;
    return unet_fail(&run->driver->error, UNET_IO, "the sums in the checkpoint are not valid");
}

/* Weights of a new run, or all of an interrupted one. */
static UnetStatus start_state(Run *run) {
    Driver *driver = run->driver;
    const UnetOptions *options = &driver->options;
    int64_t samples = unet_dataset_samples(run->data);
    run->state = (RunState){.seed = options->seed >= 0 ? options->seed : run->training->seed,
                            .samples = samples,
                            .batch = options->batch,
                            .evaluated = -1,
                            .best = NAN,
                            .best_step = -1,
                            .plateau = {.scale = 1, .best = NAN},
                            .unlogged = run->unlogged,
                            .nunlogged = NORM_NUMBERS + tally_numbers(run->model)};
    run->identity_end = IDENTITY_BATCHES;
    if (!options->resume) {
        const bool given = options->weights != NULL;
        const char *weights = given ? options->weights : run->training->pretrained;
        const char *map = given ? options->map : run->training->pretrained_map;
        unet_parameters_init(run->model, (uint64_t)run->state.seed, run->device.arena);
        return weights != NULL ? run_load_pretrained(driver, weights, map, run->device.arena) : UNET_OK;
    }
    UnetStatus status = run_resume(driver, run->device.arena, &run->state);
    if (status != UNET_OK)
        return status;
    if (run->state.samples != samples)
        return unet_fail(&driver->error, UNET_IO,
                         "the checkpoint was made with %" PRId64 " sample%s, and the data now has %" PRId64,
                         run->state.samples, unet_plural(run->state.samples), samples);
    if (options->seed >= 0 && options->seed != run->state.seed)
        return unet_fail(&driver->error, UNET_USAGE,
                         "`--seed %" PRId64 "`: the checkpoint was made with seed %" PRId64, options->seed,
                         run->state.seed);
    if (options->batch > 0 && options->batch != batch_of(run))
        return unet_fail(&driver->error, UNET_USAGE,
                         "`--batch %" PRId64 "`: the checkpoint was made with batches of %" PRId32,
                         options->batch, batch_of(run));
    return restore_unlogged(run);
}

/* The plan has room for the batch of the program, and fewer samples. */
static UnetStatus check_batch(Run *run) {
    const int32_t most = run->model->train->batch;
    if (run->state.batch <= most)
        return UNET_OK;
    return unet_fail(&run->driver->error, UNET_USAGE,
                     "batches of %" PRId64 " samples: this program was compiled for %" PRId32
                     " at most; compile with --batch=%" PRId64,
                     run->state.batch, most, run->state.batch);
}

static UnetStatus open_log(Run *run) {
    UnetError *error = &run->driver->error;
    const char *folder = run_folder(run->driver);
    char path[UNET_PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/log.csv", folder);
    if (n < 0 || (size_t)n >= sizeof path)
        return unet_fail(error, UNET_IO, "%s: the name of the folder is too long", folder);
    return unet_log_open(&run->log, path, run->model, run->folder.is_new ? -1 : run->state.step,
                         run->state.log_rows >= 0 ? run->state.log_rows : INT64_MAX, error);
}

static int32_t kept_checkpoints(const Run *run) {
    return run->training->save_keep > 1 ? run->training->save_keep : 1;
}

/* Data, memory and weights. */
static UnetStatus load(Run *run) {
    Driver *driver = run->driver;
    UnetStatus status = open_data(run);
    signals_hold(); /* before the loader starts its threads */
    if (status == UNET_OK)
        status = take_memory(run);
    if (status == UNET_OK)
        status = start_state(run);
    if (status == UNET_OK)
        status = check_batch(run);
    if (status == UNET_OK && !driver->options.resume)
        status = normal_measure(driver, run->data);
    return status == UNET_OK ? device_push_weights(&run->device, &driver->error) : status;
}

/* The folder becomes that of this run: its checkpoint shows before the first step that the folder takes
 * files, and makes --resume mean this run, also where that goes on from an earlier checkpoint. */
static UnetStatus begin_in_folder(Run *run) {
    Driver *driver = run->driver;
    UnetStatus status = run_folder_clear(&run->folder, driver, run->state.step, kept_checkpoints(run));
    if (status == UNET_OK && run->folder.is_new) {
        run->state.log_rows = 0;
        status = run_save_checkpoint(driver, run->device.arena, &run->state);
    }
    if (status == UNET_OK)
        status = open_log(run);
    run->state.log_rows = run->log.rows;
    if (status == UNET_OK && !run->folder.is_new && driver->options.resume_file != NULL)
        status = run_save_checkpoint(driver, run->device.arena, &run->state);
    run->saved = run->state.step;
    return status;
}

static UnetStatus start(Run *run) {
    UnetStatus status = run_folder_take(&run->folder, run->driver);
    if (status == UNET_OK)
        status = load(run);
    if (status != UNET_OK)
        return status;
    run->stream = (UnetStream){.dataset = run->data,
                               .seed = (uint64_t)run->state.seed,
                               .skip = unet_parameter_draws(run->model),
                               .shuffle = run->model->data->shuffle,
                               .drop_tail = run->training->drop_tail,
                               .first = run->state.step,
                               .batch = batch_of(run)};
    status = plan_schedule(run);
    if (status == UNET_OK)
        status = board_open(&run->board, run->driver, run->eval_data, run->state.step, run->steps);
    if (status == UNET_OK) /* nothing is in the way any more */
        status = begin_in_folder(run);
    run->first_step = run->begun = run->state.step;
    run->scale = scale_start(run->model, run->device.arena, run->state.step);
    return status;
}

static void finish(Run *run) {
    board_close(run->board);
    unet_log_close(&run->log);
    free(run->value);
    free(run->identity);
    free(run->unlogged);
    tally_destroy(&run->train);
    tally_destroy(&run->shown);
    tally_destroy(&run->eval);
    device_close(&run->device);
    unet_loader_destroy(run->loader);
    unet_dataset_close(run->eval_data);
    unet_dataset_close(run->data);
    run_folder_leave(&run->folder);
}

/* ---- while training --------------------------------------------------------------------------- */

static bool is_due(int64_t step, int64_t every) {
    return every > 0 && step % every == 0;
}

static double images_per_second(const Run *run) {
    return run->training_seconds > 0 ? (double)run->images / run->training_seconds : 0;
}

static int64_t epoch_of(const Run *run) {
    return (run->state.step - 1) / run->steps_per_epoch + 1;
}

/* Before the scale of the loss is shown; warns, once, where training cannot go on. */
static UnetStatus look_at_scale(Run *run) {
    /* what the device says comes after all that was begun */
    UnetStatus status = scale_look(&run->scale, &run->device, run->begun, &run->driver->error);
    if (status != UNET_OK || run->has_warned || !scale_has_collapsed(&run->scale))
        return status;
    char program[UNET_PATH_BYTES];
    (void)unet_shell_word(program, sizeof program, run->driver->program);
    unet_progress_message(&run->progress,
                          "warning: gradients overflow at every loss scale: %" PRId64 " of %" PRId64
                          " steps were skipped, and the scale is down to %.3g. f16 cannot represent this "
                          "training: stop it, compile with --precision=bf16, which takes as much memory, "
                          "and continue with: %s train --resume%s",
                          run->scale.skipped, run->begun, run->scale.scale, program,
                          run->driver->options.given);
    run->has_warned = true;
    return UNET_OK;
}

/* The learning rate of STEP. */
static double rate_of(const Run *run, int64_t step) {
    const double asked = run->driver->options.learning_rate;
    return unet_schedule_rate(run->training->schedule, asked > 0 ? asked : run->training->learning_rate,
                              &run->state.plateau, step, (UnetLength){run->steps, run->steps_per_epoch});
}

static UnetStatus write_row(Run *run, const char *split, const Tally *tally) {
    UnetStatus status = look_at_scale(run);
    if (status != UNET_OK)
        return status;
    for (int i = 0; i < run->model->nresult; i++) {
        run->value[i] = tally_value(tally, i);
        run->identity[i] = tally_identity(tally, i);
    }
    const UnetLogRow row = {.epoch = epoch_of(run),
                            .step = run->state.step,
                            .split = split,
                            .loss = tally_loss(tally),
                            .value = run->value,
                            .identity = run->identity,
                            .learning_rate = rate_of(run, run->state.step),
                            .images_per_second = images_per_second(run),
                            .seconds = machine_seconds() - run->start,
                            .gradient_norm = run->normed > 0 ? run->norms / (double)run->normed : NAN,
                            .loss_scale = run->scale.scale,
                            .skipped = run->scale.skipped};
    return unet_log_write(&run->log, &row, &run->driver->error);
}

static UnetStatus show_progress(Run *run, double now) {
    UnetStatus status = look_at_scale(run);
    if (status != UNET_OK)
        return status;
    int metric = tally_first_metric(run->model);
    int64_t done = run->state.step - run->first_step;
    UnetProgressState state = {.epoch = epoch_of(run),
                               .epochs = (run->steps - 1) / run->steps_per_epoch + 1,
                               .step = run->state.step,
                               .steps = run->steps,
                               .loss = tally_loss(&run->shown),
                               .images_per_second = images_per_second(run),
                               .seconds_left = (now - run->start) / (double)done *
                                               (double)(run->steps - run->state.step),
                               .loss_scale = run->scale.scale,
                               .skipped = run->scale.skipped};
    if (metric >= 0) {
        const UnetResult *result = &run->model->results[metric];
        state.metric = result->metric;
        state.value = tally_value(&run->shown, metric);
        state.identity = tally_identity(&run->train, metric);
        if (!isnan(state.identity))
            state.identity_name = run->model->inputs[result->identity_input].name;
    }
    unet_progress_show(&run->progress, &state, now);
    tally_clear(&run->shown);
    return UNET_OK;
}

static UnetStatus diverged(Run *run, double loss) {
    return unet_fail(&run->driver->error, UNET_DIVERGED,
                     "the loss is %g at step %" PRId64 ": training stopped. The checkpoint of step %" PRId64
                     " is intact. Try a smaller learning rate%s",
                     loss, run->state.step, run->saved,
                     run->model->loss_scale > 0 ? ", or --precision=bf16, which does not overflow" : "");
}

static bool evaluates_at(const Run *run, int64_t step) {
    return run->eval_data != NULL && run->state.evaluated != step &&
           (step == run->steps || is_due(step, run->eval_every));
}

/* Is nothing to be done behind STEP that needs the weights or the tallies as they are then? */
static bool is_plain(const Run *run, int64_t step) {
    return step < run->steps && !evaluates_at(run, step) && !is_due(step, run->save_every) &&
           !is_due(step, run->steps_per_epoch);
}

static UnetStatus begin_step(Run *run) {
    const UnetProgram *program = run->model->train;
    UnetBatch batch;
    UnetStatus status = device_next_batch(&run->device, run->loader, &batch, &run->driver->error);
    if (status != UNET_OK)
        return status;
    run->begun++;
    const UnetStep step = {.arena = run->device.arena,
                           .inputs = batch.inputs,
                           .valid = batch.valid,
                           .n = batch.n,
                           .threads = run->driver->threads,
                           .learning_rate = rate_of(run, run->begun),
                           .step = run->begun,
                           .seed = (uint64_t)run->state.seed};
    run->samples[run->begun % UNET_STEPS_AHEAD] = batch.n;
    if (run->begun <= run->identity_end)
        tally_add_identity(&run->train, program, &batch);
    return device_begin(&run->device, program, &step, &run->driver->error);
}

static void add_norm(Run *run) {
    const int64_t offset = run->model->train->gradient_norm;
    double norm = NAN;
    if (offset > 0)
        memcpy(&norm, run->device.arena + offset, sizeof norm);
    if (!(norm >= 0 && isfinite(norm))) /* -1: it overflowed */
        return;
    run->norms += norm;
    run->normed++;
}

/* Events that cannot be written end, and training goes on. */
static void note_board(Run *run, UnetStatus status) {
    if (status == UNET_OK)
        return;
    unet_progress_message(&run->progress, "warning: no more events for TensorBoard: %s",
                          run->driver->error.text);
    board_close(run->board);
    run->board = NULL;
}

static UnetStatus end_step(Run *run) {
    const UnetProgram *program = run->model->train;
    UnetStatus status = device_end(&run->device, &run->driver->error);
    if (status != UNET_OK)
        return status;
    run->state.step++;
    int32_t n = run->samples[run->state.step % UNET_STEPS_AHEAD];
    run->images += n;
    tally_add(&run->train, program, run->device.arena, n);
    tally_add(&run->shown, program, run->device.arena, n);
    add_norm(run);
    note_board(
        run, board_step(run->board, run->device.arena, n, run->state.step, rate_of(run, run->state.step)));
    return UNET_OK;
}

/* One step more has ended when this returns, and where there is a device and nothing else to be done, the
 * next one has begun: so the device need not wait for its results to be looked at. */
static UnetStatus take_step(Run *run) {
    const int64_t next = run->state.step + 1;
    const double start = machine_seconds();
    UnetStatus status = run->begun < next ? begin_step(run) : UNET_OK;
    if (status == UNET_OK && device_steps_ahead(&run->device) > 1 && is_plain(run, next))
        status = begin_step(run);
    if (status == UNET_OK)
        status = end_step(run);
    if (status != UNET_OK)
        return status;
    double now = machine_seconds();
    run->training_seconds += now - start;
    if (!isfinite(tally_loss(&run->shown)))
        return diverged(run, tally_loss(&run->shown));
    return unet_progress_is_due(&run->progress, now) ? show_progress(run, now) : UNET_OK;
}

/* Whoever stops has trained as far as was begun. */
static UnetStatus end_what_was_begun(Run *run) {
    UnetStatus status = UNET_OK;
    while (run->state.step < run->begun && status == UNET_OK)
        status = end_step(run);
    return status;
}

/* Is more of what picks the best weights better? */
static bool higher_is_better(const Run *run) {
    int metric = tally_first_metric(run->model);
    return metric >= 0 && run->model->results[metric].higher_is_better;
}

static bool is_better(const Run *run, double value) {
    return isnan(run->state.best) ||
           (higher_is_better(run) ? value > run->state.best : value < run->state.best);
}

/* Have so many evaluations in a row brought nothing better that training ends? */
static bool has_stalled(const Run *run) {
    return run->training->patience > 0 && run->state.stale >= run->training->patience;
}

/* The rate of the steps that come follows from it. */
static void look_at_plateau(Run *run, double value) {
    const UnetSchedule *schedule = run->training->schedule;
    if (schedule == NULL || schedule->kind != UNET_SCHEDULE_PLATEAU)
        return;
    const double before = run->state.plateau.scale;
    unet_plateau_look(schedule, &run->state.plateau, value, higher_is_better(run));
    if (run->state.plateau.scale < before)
        unet_progress_message(&run->progress, "step %" PRId64 ": the learning rate falls to %.4g",
                              run->state.step, rate_of(run, run->state.step + 1));
}

/* *SIGNAL is set when one came during the evaluation, which then does not count. */
static UnetStatus evaluate(Run *run, int *signal) {
    Driver *driver = run->driver;
    char text[512];
    int metric = tally_first_metric(run->model);
    UnetStatus status = tally_evaluate(&run->eval, run->loader, run->eval_data, &run->device,
                                       driver->threads, NULL, signal, &driver->error);
    if (status != UNET_OK || *signal != 0)
        return status;
    tally_format(&run->eval, text, sizeof text);
    unet_progress_message(&run->progress, "step %" PRId64 ": evaluation: %s", run->state.step, text);
    run->state.evaluated = run->state.step;
    double value = metric >= 0 ? tally_value(&run->eval, metric) : tally_loss(&run->eval);
    run->state.stale++;
    if (is_better(run, value)) {
        run->state.stale = 0;
        run->state.best = value;
        run->state.best_step = run->state.step;
        status = device_fetch_weights(&run->device, &driver->error);
        if (status == UNET_OK)
            status = run_save_weights(driver, run->device.arena, &run->state, "best.");
    }
    if (status == UNET_OK)
        status = write_row(run, "eval", &run->eval);
    if (status == UNET_OK)
        note_board(run, board_evaluation(run->board, &run->eval, run->state.step, &run->device));
    look_at_plateau(run, value);
    run->stream.first = run->state.step;
    return status != UNET_OK ? status : unet_loader_begin(run->loader, &run->stream, &driver->error);
}

/* Does the checkpoint on disk lack a step, or what came behind the last one? */
static bool has_unsaved(const Run *run) {
    return run->saved < run->state.step || run->state.log_rows != run->log.rows;
}

/* The checkpoint comes last: whoever resumes from it need not ask whether the weights are as new. */
static UnetStatus save(Run *run) {
    UnetStatus status = device_fetch_weights(&run->device, &run->driver->error);
    if (status == UNET_OK)
        status = run_save_weights(run->driver, run->device.arena, &run->state, "");
    run->state.log_rows = run->log.rows;
    store_unlogged(run);
    if (status == UNET_OK)
        status = run_save_checkpoint(run->driver, run->device.arena, &run->state);
    if (status == UNET_OK)
        run->saved = run->state.step;
    return status;
}

/* A regular save also keeps a numbered checkpoint and forgets the one that is `keep` saves older. */
static UnetStatus save_and_keep(Run *run) {
    int64_t reach;
    UnetStatus status = save(run);
    if (status != UNET_OK)
        return status;
    bool is_old =
        !__builtin_mul_overflow(kept_checkpoints(run), run->save_every, &reach) && reach < run->state.step;
    return run_keep_checkpoint(run->driver, run->device.arena, &run->state,
                               is_old ? run->state.step - reach : 0);
}

/* Where nothing is evaluated, the last numbers of training are the result. */
static void report_training(Run *run) {
    char text[512];
    tally_format(&run->train, text, sizeof text);
    unet_progress_message(&run->progress, "last steps of training: %s", text);
}

/* What is due behind a step. */
static UnetStatus after_step(Run *run, int *signal) {
    UnetStatus status = UNET_OK;
    bool is_last = run->state.step == run->steps;
    bool evaluates = evaluates_at(run, run->state.step);
    if (run->train.samples > 0 && (evaluates || is_last || is_due(run->state.step, run->steps_per_epoch))) {
        status = write_row(run, "train", &run->train);
        if (is_last && run->eval_data == NULL)
            report_training(run);
        tally_clear(&run->train);
        run->norms = 0;
        run->normed = 0;
    }
    if (status == UNET_OK && evaluates)
        status = evaluate(run, signal);
    if (status == UNET_OK && *signal == 0 && is_due(run->state.step, run->save_every) &&
        run->saved < run->state.step)
        status = save_and_keep(run);
    return status;
}

static UnetStatus loop(Run *run) {
    int signal = 0;
    UnetStatus status = UNET_OK;
    if (run->state.step > 0) /* an evaluation that was due when the run ended */
        status = after_step(run, &signal);
    while (status == UNET_OK && signal == 0 && run->state.step < run->steps && !has_stalled(run)) {
        status = take_step(run);
        if (status == UNET_OK)
            signal = signals_look();
        if (status == UNET_OK && signal == 0)
            status = after_step(run, &signal);
    }
    if (status == UNET_OK)
        status = end_what_was_begun(run);
    if (status != UNET_OK)
        return status;
    run->driver->stopped_by = signal;
    return has_unsaved(run) ? save(run) : UNET_OK;
}

/* ---- before and after ------------------------------------------------------------------------- */

static void tell(void *progress, const char *note) {
    unet_progress_message(progress, "%s", note);
}

static void announce(Run *run) {
    const UnetModel *model = run->model;
    const int samples = (int)unet_dataset_samples(run->data);
    char arena[32], beside[32], threads[32] = "";
    format_bytes(arena, sizeof arena, model->arena_bytes);
    format_bytes(beside, sizeof beside, run->beside);
    if (model->device == NULL)
        (void)snprintf(threads, sizeof threads, "%" PRId32 " thread%s, ", run->driver->threads,
                       unet_plural(run->driver->threads));
    unet_progress_message(&run->progress,
                          "%s (%s, %s): %" PRId64 " parameter%s, arena %s, the loader at most %s; %" PRId32
                          " sample%s, batch %" PRId32 ", %" PRId64 " step%s an epoch, %" PRId64
                          " step%s in all; %sseed %" PRId64,
                          model->name, model->target, model->precision, model->parameter_count,
                          unet_plural(model->parameter_count), arena, beside, samples, unet_plural(samples),
                          batch_of(run), run->steps_per_epoch, unet_plural(run->steps_per_epoch),
                          run->steps, unet_plural(run->steps), threads, run->state.seed);
    unet_dataset_notes(run->data, tell, &run->progress);
    if (run->eval_data != NULL)
        unet_dataset_notes(run->eval_data, tell, &run->progress);
}

static void report_waiting(Run *run) {
    UnetLoaderWait wait = unet_loader_wait(run->loader);
    if (run->training_seconds > 5 && wait.seconds > 0.1 * run->training_seconds)
        unet_progress_message(&run->progress,
                              "note: %.0f %% of the time went into waiting for data; more loader threads "
                              "(`threads` in the data section) or smaller files would help",
                              100 * wait.seconds / run->training_seconds);
}

static void summarize(Run *run) {
    char duration[32], text[512], last[UNET_PATH_BYTES], best[UNET_PATH_BYTES];
    UnetProgress *progress = &run->progress;
    char program[UNET_PATH_BYTES], weights[UNET_PATH_BYTES];
    (void)unet_shell_word(program, sizeof program, run->driver->program);
    if (run_path(run->driver, "", last, NULL) != UNET_OK ||
        run_path(run->driver, "best.", best, NULL) != UNET_OK)
        return;
    if (run->driver->stopped_by != 0) {
        unet_progress_message(progress,
                              "stopped by %s after step %" PRId64 "; continue with: %s train --resume%s",
                              run->driver->stopped_by == SIGINT ? "SIGINT" : "SIGTERM", run->state.step,
                              program, run->driver->options.given);
        return;
    }
    unet_format_duration(duration, sizeof duration, machine_seconds() - run->start);
    unet_progress_message(progress, "trained %" PRId64 " step%s in %s, %.1f images/s",
                          run->state.step - run->first_step, unet_plural(run->state.step - run->first_step),
                          duration, images_per_second(run));
    report_waiting(run);
    if (has_stalled(run))
        unet_progress_message(progress,
                              "stopped early: the last %" PRId64 " evaluation%s not better than that of "
                              "step %" PRId64,
                              run->state.stale, run->state.stale == 1 ? " was" : "s were",
                              run->state.best_step);
    if (run->scale.skipped > 0)
        unet_progress_message(
            progress, "%" PRId64 " of %" PRId64 " step%s skipped: the gradients overflowed in f16",
            run->scale.skipped, run->state.step, run->state.step == 1 ? " was" : "s were");
    tally_format(&run->eval, text, sizeof text);
    if (run->eval.samples > 0)
        unet_progress_message(progress, "evaluation: %s", text);
    unet_progress_message(progress, "weights: %s", last);
    const char *use = run->state.best_step >= 0 ? best : last;
    if (use == best)
        unet_progress_message(progress, "best: %s (step %" PRId64 ")", best, run->state.best_step);
    (void)unet_shell_word(weights, sizeof weights, use);
    if (run->model->predict != NULL)
        unet_progress_message(progress, "try it: %s predict --weights=%s IN.png -o OUT.png", program,
                              weights);
}

/* A run that a signal ended behind its last step still has its last rows to write. */
static bool is_done(const Run *run) {
    return run->state.step > run->steps ||
           (run->state.step == run->steps && run->train.samples == 0 && !evaluates_at(run, run->steps));
}

UnetStatus driver_train(Driver *driver) {
    Run run = {.driver = driver,
               .model = driver->model,
               .training = driver->model->training,
               .folder = {.lock = -1},
               .log = {.fd = -1}};
    if (run.training == NULL || run.model->train == NULL)
        return unet_fail(&driver->error, UNET_USAGE, "%s was compiled for prediction only",
                         run.model->name);
    UnetStatus status = start(&run);
    if (status == UNET_OK && has_stalled(&run)) {
        (void)fprintf(stderr,
                      "nothing to do: training has stopped after %" PRId64
                      " evaluation%s without a better one (`patience`)\n",
                      run.state.stale, unet_plural(run.state.stale));
    } else if (status == UNET_OK && is_done(&run)) {
        (void)fprintf(stderr, "nothing to do: %" PRId64 " of %" PRId64 " step%s done (--epochs, --steps)\n",
                      run.state.step, run.steps, run.steps == 1 ? " is" : "s are");
    } else if (status == UNET_OK) {
        run.start = machine_seconds();
        unet_progress_start(&run.progress, STDERR_FILENO, run.start);
        announce(&run);
        status = unet_loader_begin(run.loader, &run.stream, &driver->error);
        if (status == UNET_OK)
            status = loop(&run);
        unet_progress_clear(&run.progress);
        if (status == UNET_OK)
            summarize(&run);
    }
    finish(&run);
    return status;
}
