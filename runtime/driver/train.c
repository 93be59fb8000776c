/* train.c - the command `train`: from data and initial weights to trained weights.
 *
 * Everything is taken before the first step, by train_start.c: datasets, arena, loader, log.  The loop then
 * only waits for a batch, runs the program, looks at the loss and, when it is time, evaluates and saves:
 *
 *     step -> loss finite? -> progress -> log at the end of an epoch -> evaluate -> save -> signal?
 *
 * It allocates nothing.  A step is a function of the seed and its number alone, so a run that was killed
 * and resumed from its checkpoint ends with the same weights as one that was not.
 */
#include "train.h"

#include "predict.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unet/words.h"

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

/* The seconds of a step, of SECONDS since the last row of training; NaN in a row of an evaluation. */
static double of_step(const Run *run, bool trains, double seconds) {
    const int64_t steps = run->state.step - run->row_step;
    return trains && steps > 0 ? seconds / (double)steps : NAN;
}

static UnetStatus write_row(Run *run, const char *split, const Tally *tally) {
    const Ranks *ranks = &run->driver->ranks;
    const bool trains = tally == &run->train;
    UnetStatus status = look_at_scale(run);
    if (status != UNET_OK)
        return status;
    if (!train_leads(run)) {
        run->log.rows++;
        return UNET_OK;
    }
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
                            .exchange = of_step(run, trains, ranks->seconds - run->row_exchange),
                            .sent = of_step(run, trains, ranks->sent - run->row_sent),
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
    run->driver->ranks.alike = true;
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
    UnetStep step = {.arena = run->device.arena,
                     .inputs = batch.inputs,
                     .valid = batch.valid,
                     .n = batch.n,
                     .threads = run->driver->threads,
                     .learning_rate = rate_of(run, run->begun),
                     .step = run->begun,
                     .seed = (uint64_t)run->state.seed};
    run->samples[run->begun % UNET_STEPS_AHEAD] = batch.n;
    Ranks *ranks = &run->driver->ranks;
    if (!ranks_alone(ranks)) {
        step.team = &ranks->team;
        ranks_begin_step(ranks, batch.n, &step.first, &step.last);
    }
    const bool identity = run->begun <= run->identity_end;
    if (identity && ranks_alone(ranks))
        tally_add_identity(&run->train, program, &batch);
    else if (identity)
        status = train_share_identities(run, &batch, step.first, step.last);
    train_count_labels(run, &batch);
    return status == UNET_OK ? device_begin(&run->device, program, &step, &run->driver->error) : status;
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
    Ranks *ranks = &run->driver->ranks;
    const int32_t n = run->samples[(run->state.step + 1) % UNET_STEPS_AHEAD];
    UnetStatus status = device_end(&run->device, &run->driver->error);
    if (status == UNET_OK && ranks->status != UNET_OK)
        status = unet_fail(&run->driver->error, ranks->status, "%s", ranks->error.text);
    if (status == UNET_OK && !ranks_alone(ranks))
        status = train_share_results(run, n);
    if (status != UNET_OK)
        return status;
    run->state.step++;
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
    UnetStatus status = ranks_alone(&driver->ranks)
                            ? tally_evaluate(&run->eval, run->loader, run->eval_data, &run->device,
                                             driver->threads, NULL, signal, &driver->error)
                            : train_evaluate_ranks(run, signal);
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
        if (status == UNET_OK && train_leads(run))
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
    const bool writes = train_leads(run);
    UnetStatus status = device_fetch_weights(&run->device, &run->driver->error);
    if (status == UNET_OK)
        status = train_gather_state(run);
    if (status == UNET_OK && writes)
        status = run_save_weights(run->driver, run->device.arena, &run->state, "");
    run->state.log_rows = run->log.rows;
    train_store_unlogged(run);
    if (status == UNET_OK && writes)
        status = run_save_checkpoint(run->driver, run->device.arena, &run->state);
    if (status == UNET_OK)
        run->saved = run->state.step;
    return status;
}

/* A regular save also keeps a numbered checkpoint and forgets the one that is `keep` saves older. */
static UnetStatus save_and_keep(Run *run) {
    int64_t reach;
    UnetStatus status = save(run);
    if (status != UNET_OK || !train_leads(run))
        return status;
    bool is_old = !__builtin_mul_overflow(train_kept_checkpoints(run), run->save_every, &reach) &&
                  reach < run->state.step;
    status = run_keep_checkpoint(run->driver, run->device.arena, &run->state,
                                 is_old ? run->state.step - reach : 0);
    run_folder_added(&run->folder, run->driver, run->state.step, train_kept_checkpoints(run));
    return status;
}

/* If nothing is evaluated, the last numbers of training are the result. */
static void report_training(Run *run) {
    char text[512];
    tally_format(&run->train, text, sizeof text);
    unet_progress_message(&run->progress, "last steps of training: %s", text);
}

/* The work that is due behind a step. */
static UnetStatus after_step(Run *run, int *signal) {
    enum { COMPARED = 100 }; /* steps after which ranks compare their weights */
    bool is_last = run->state.step == run->steps;
    bool evaluates = evaluates_at(run, run->state.step);
    const bool compares =
        is_last || is_due(run->state.step, COMPARED) || is_due(run->state.step, run->save_every);
    UnetStatus status =
        compares && !ranks_alone(&run->driver->ranks) ? train_compare_weights(run) : UNET_OK;
    if (status == UNET_OK && run->train.samples > 0 &&
        (evaluates || is_last || is_due(run->state.step, run->steps_per_epoch))) {
        status = write_row(run, "train", &run->train);
        run->row_step = run->state.step;
        run->row_exchange = run->driver->ranks.seconds;
        run->row_sent = run->driver->ranks.sent;
        if (is_last && run->eval_data == NULL)
            report_training(run);
        tally_clear(&run->train);
        run->norms = 0;
        run->normed = 0;
    }
    train_judge_labels(run, evaluates);
    if (status == UNET_OK && evaluates)
        status = evaluate(run, signal);
    if (status == UNET_OK && evaluates && *signal == 0)
        train_report_evaluation(run);
    if (status == UNET_OK && *signal == 0 && is_due(run->state.step, run->save_every) &&
        run->saved < run->state.step)
        status = save_and_keep(run);
    return status;
}

/* One that came to any rank stops all of them, behind the same step. */
static UnetStatus look_at_signals(Run *run, int *signal) {
    int64_t most;
    const UnetStatus status = ranks_most(&run->driver->ranks, signals_look(), &most, &run->driver->error);
    *signal = status == UNET_OK ? (int)most : 0;
    return status;
}

static UnetStatus loop(Run *run) {
    int signal = 0;
    UnetStatus status = UNET_OK;
    if (run->state.step > 0) /* an evaluation that was due when the run ended */
        status = after_step(run, &signal);
    while (status == UNET_OK && signal == 0 && run->state.step < run->steps && !train_has_stalled(run)) {
        status = take_step(run);
        if (status == UNET_OK)
            status = look_at_signals(run, &signal);
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
    char arena[32], beside[32], parameters[32], threads[32] = "", ranks[32] = "";
    format_count(parameters, sizeof parameters, model->parameter_count);
    if (!ranks_alone(&run->driver->ranks))
        (void)snprintf(ranks, sizeof ranks, "%d ranks of ", (int)run->driver->ranks.size);
    format_bytes(arena, sizeof arena, model->arena_bytes);
    format_bytes(beside, sizeof beside, run->beside);
    if (model->device == NULL)
        (void)snprintf(threads, sizeof threads, "%" PRId32 " thread%s, ", run->driver->threads,
                       unet_plural(run->driver->threads));
    unet_progress_message(&run->progress,
                          "%s (%s, %s): %s parameter%s, arena %s, the loader at most %s; %" PRId32
                          " sample%s, batch %" PRId32 ", %" PRId64 " step%s an epoch, %" PRId64
                          " step%s in all; %s%sseed %" PRId64,
                          model->name, model->target, model->precision, parameters,
                          unet_plural(model->parameter_count), arena, beside, samples, unet_plural(samples),
                          train_batch(run), run->steps_per_epoch, unet_plural(run->steps_per_epoch),
                          run->steps, unet_plural(run->steps), ranks, threads, run->state.seed);
    unet_dataset_notes(run->data, tell, &run->progress);
    if (run->eval_data != NULL)
        unet_dataset_notes(run->eval_data, tell, &run->progress);
}

static void report_waiting(Run *run) {
    if (run->training_seconds > 5 && run->waited > 0.1 * run->training_seconds)
        unet_progress_message(&run->progress,
                              "note: %.0f %% of the time went into waiting for data; more loader threads "
                              "(`threads` in the data section) or smaller files would help",
                              100 * run->waited / run->training_seconds);
}

/* A rank that waits for a slower one is counted, too. */
static void report_exchange(Run *run) {
    const Ranks *ranks = &run->driver->ranks;
    if (ranks->seconds <= 0 || run->training_seconds <= 0)
        return;
    unet_progress_message(
        &run->progress,
        "rank 0 waited %.1f %% of the time of its steps for the gradients and weights of %d ranks; their "
        "exchange took %.1f %%",
        100 * ranks->seconds / run->training_seconds, (int)ranks->size,
        100 * ranks->sent / run->training_seconds);
}

static void suggest_prediction(Run *run, const char *program, const char *use) {
    char in[UNET_PATH_BYTES], weights[UNET_PATH_BYTES];
    const char *suffix = run->model->inputs[0].kind == UNET_VOLUME    ? "nii.gz"
                         : run->model->outputs[0].kind == UNET_SIGNAL ? "wav"
                                                                      : "png";
    prediction_example(run->driver, run->eval_data != NULL ? run->eval_data : run->data, in, sizeof in);
    (void)unet_shell_word(weights, sizeof weights, use);
    if (in[0] != '\0')
        unet_progress_message(&run->progress, "try it: %s predict --weights=%s %s -o OUT.%s", program,
                              weights, in, suffix);
}

static void summarize(Run *run) {
    char duration[32], text[512], last[UNET_PATH_BYTES], best[UNET_PATH_BYTES];
    UnetProgress *progress = &run->progress;
    char program[UNET_PATH_BYTES];
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
    report_exchange(run);
    report_waiting(run);
    if (train_has_stalled(run))
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
    if (!run->has_no_report)
        unet_progress_message(progress, "report: %s/report.html", run_folder(run->driver));
    unet_progress_message(progress, "weights: %s", last);
    const char *use = run->state.best_step >= 0 ? best : last;
    if (use == best)
        unet_progress_message(progress, "best: %s (step %" PRId64 ")", best, run->state.best_step);
    suggest_prediction(run, program, use);
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
    UnetStatus status = train_start(&run);
    if (status == UNET_OK && train_has_stalled(&run)) {
        (void)fprintf(stderr,
                      "nothing to do: training has stopped after %" PRId64
                      " evaluation%s without a better one (`patience`)\n",
                      run.state.stale, unet_plural(run.state.stale));
    } else if (status == UNET_OK && is_done(&run)) {
        (void)fprintf(stderr,
                      "nothing to do: %" PRId64 " of %" PRId64
                      " step%s done; train longer by --epochs=N or --steps=N\n",
                      run.state.step, run.steps, run.steps == 1 ? " is" : "s are");
    } else if (status == UNET_OK) {
        run.start = machine_seconds();
        unet_progress_start(&run.progress, train_leads(&run) ? STDERR_FILENO : -1, run.start);
        announce(&run);
        status = unet_loader_begin(run.loader, &run.stream, &driver->error);
        if (status == UNET_OK)
            status = loop(&run);
        train_report_end(&run, status);
        unet_progress_clear(&run.progress);
        if (status == UNET_OK)
            summarize(&run);
    }
    if (status != UNET_OK && run.state.step == 0)
        run_folder_forget(&run.folder, driver);
    train_finish(&run);
    return status;
}
