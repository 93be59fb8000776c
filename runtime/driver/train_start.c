/* train_start.c - what a training run takes before its first step, and gives back behind its last:
 * datasets, arena, loader, weights, folder, log.
 *
 * The folder comes last: a run that cannot begin leaves an earlier one as it was. */
#include "train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "unet/parameters.h"
#include "unet/words.h"

enum {
    IDENTITY_BATCHES = 8, /* measured in training to have something to compare with */
    NORM_NUMBERS = 2      /* in front of a tally's: the sum of gradients' norms, and their number */
};

/* COUNT in UNIT as a number of steps, at most INT64_MAX. */
static int64_t in_steps(const Run *run, int64_t count, UnetUnit unit) {
    int64_t steps;
    if (unit == UNET_STEPS)
        return count;
    if (__builtin_mul_overflow(count, run->steps_per_epoch, &steps))
        return INT64_MAX;
    return steps;
}

int32_t train_batch(const Run *run) {
    return run->state.batch > 0 ? (int32_t)run->state.batch : run->model->train->batch;
}

static UnetStatus plan_schedule(Run *run) {
    const UnetOptions *options = &run->driver->options;
    const UnetTraining *training = run->training;
    int64_t batches = unet_stream_batches(&run->stream);
    if (batches <= 0)
        return unet_fail(&run->driver->error, UNET_IO,
                         "%" PRId32 " sample%s not fill one batch of %" PRId32
                         ": use a smaller `batch`, or `tail \"keep\"`",
                         unet_dataset_samples(run->data),
                         unet_dataset_samples(run->data) == 1 ? " does" : "s do", train_batch(run));
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

static void advise_check(Driver *driver) {
    const char *data = driver->options.data;
    char program[UNET_PATH_BYTES], folder[UNET_PATH_BYTES] = "";
    (void)unet_shell_word(program, sizeof program, driver->program);
    if (data != NULL)
        (void)unet_shell_word(folder, sizeof folder, data);
    unet_fail_more(&driver->error, "; `%s check-data%s%s` lists all that is wrong", program,
                   data != NULL ? " --data=" : "", folder);
}

static UnetStatus open_data(Run *run) {
    Driver *driver = run->driver;
    if (!unet_dataset_exists(run->model, UNET_TRAINING))
        return unet_fail(&driver->error, UNET_USAGE, "%s has no `data` section to train with",
                         run->model->source);
    UnetStatus status = check_fold(driver);
    if (status == UNET_OK)
        status = unet_dataset_open(&run->data, run->model, UNET_TRAINING, data_place(driver, NULL),
                                   &driver->error);
    if (status == UNET_IO && !driver->options.skip_bad)
        advise_check(driver);
    if (status == UNET_OK && driver->options.eval_data != NULL && !evaluation_exists(driver))
        return unet_fail(
            &driver->error, UNET_USAGE,
            "--eval-data: this program does not evaluate: add a section `eval { every 1 }` to %s",
            run->model->source);
    if (status == UNET_OK && evaluation_exists(driver))
        status = evaluation_open(driver, &run->eval_data);
    problems_end(&driver->problems);
    if (status == UNET_OK && driver->problems.count > 0 && train_leads(run))
        (void)fprintf(stderr,
                      "note: %" PRId64 " problem%s with files: --skip-bad trains on %" PRId32
                      " samples without them\n",
                      driver->problems.count, unet_plural(driver->problems.count),
                      unet_dataset_samples(run->data));
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
    UnetStatus status = driver_open_device(run->driver, &run->device, run->model->arena_bytes, run->beside);
    if (status == UNET_OK)
        status = unet_loader_create(&run->loader, run->model, datasets, ndataset, threads, slots, error);
    if (status == UNET_OK)
        device_reads_from(&run->device, run->loader);
    Tally *const tallies[] = {&run->train, &run->shown, &run->eval};
    for (int i = 0; i < 3 && status == UNET_OK; i++)
        status = tally_create(tallies[i], run->model, error);
    if (status == UNET_OK)
        status = train_watch_labels(run);
    size_t results = (size_t)run->model->nresult + 1; /* never nothing */
    run->value = calloc(results, sizeof *run->value);
    run->identity = calloc(results, sizeof *run->identity);
    run->unlogged = calloc((size_t)(NORM_NUMBERS + tally_numbers(run->model)), sizeof *run->unlogged);
    if (status == UNET_OK && (run->value == NULL || run->identity == NULL || run->unlogged == NULL))
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a row of the log");
    return status == UNET_OK ? device_try_threads(&run->device, run->driver->threads, error) : status;
}

void train_store_unlogged(Run *run) {
    run->unlogged[0] = run->norms;
    run->unlogged[1] = (double)run->normed;
    tally_store(&run->train, run->model->train, run->unlogged + NORM_NUMBERS);
}

/* So that the log's next row is the row of a run which was not interrupted. */
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
    return unet_fail(&run->driver->error, UNET_IO,
                     "the checkpoint to resume from is damaged: its sums of losses are not valid");
}

/* Weights of a new run, or all of an interrupted one. */
static UnetStatus start_state(Run *run) {
    Driver *driver = run->driver;
    const UnetOptions *options = &driver->options;
    int64_t samples = unet_dataset_samples(run->data);
    run->state = (RunState){.seed = options->seed >= 0 ? options->seed : run->training->seed,
                            .samples = samples,
                            .fold = options->fold > 0 ? options->fold : 0,
                            .batch = options->batch > 0 ? options->batch : run->model->train->batch,
                            .evaluated = -1,
                            .best = NAN,
                            .best_step = -1,
                            .plateau = {.scale = 1, .best = NAN},
                            .unlogged = run->unlogged,
                            .nunlogged = NORM_NUMBERS + tally_numbers(run->model)};
    run->identity_end = IDENTITY_BATCHES;
    device_engines(&run->device, run->state.engines);
    if (!train_leads(run))
        return UNET_OK;
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
    if (run->state.samples >= 0 && run->state.samples != samples)
        return unet_fail(
            &driver->error, UNET_IO,
            "the checkpoint was made with %" PRId64 " sample%s, and the data now has %" PRId64
            ": restore the files, or begin a new run in another `--out`, with `--weights` from this one",
            run->state.samples, unet_plural(run->state.samples), samples);
    run->state.samples = samples;
    if (run->state.fold != (options->fold > 0 ? options->fold : 0))
        return unet_fail(&driver->error, UNET_USAGE,
                         "the checkpoint was made with fold %" PRId64 " held out: give `--fold=%" PRId64
                         "`",
                         run->state.fold, run->state.fold);
    if (options->seed >= 0 && options->seed != run->state.seed)
        return unet_fail(&driver->error, UNET_USAGE,
                         "`--seed %" PRId64 "`: the checkpoint was made with seed %" PRId64
                         ": leave `--seed` out",
                         options->seed, run->state.seed);
    if (run->state.batch == 0) /* a checkpoint as they were once: not even it knows */
        run->state.batch = run->model->train->batch;
    if (options->batch > 0 && options->batch != run->state.batch)
        return unet_fail(&driver->error, UNET_USAGE,
                         "`--batch %" PRId64 "`: the checkpoint was made with batches of %" PRId64
                         ": leave `--batch` out",
                         options->batch, run->state.batch);
    return UNET_OK;
}

/* The plan has room for the batch of the program, and fewer samples.  A run that is resumed keeps its
 * batch, on which its result depends. */
static UnetStatus check_batch(Run *run) {
    const int32_t most = run->model->train->batch;
    const bool resumed = run->driver->options.resume;
    if (run->state.batch > most)
        return unet_fail(
            &run->driver->error, UNET_USAGE,
            "%sbatches of %" PRId64 " samples: this program was compiled for %" PRId32
            " at most; compile with --batch=%" PRId64 "%s",
            resumed ? "the checkpoint was made with " : "", run->state.batch, most, run->state.batch,
            resumed ? ", or begin a new run in another `--out`, with `--weights` from this one" : "");
    if (resumed && train_leads(run) && run->state.batch < most && run->driver->options.batch == 0)
        (void)fprintf(stderr,
                      "note: the run goes on with batches of %" PRId64
                      ", as it began; this program was compiled for %" PRId32 "\n",
                      run->state.batch, most);
    return UNET_OK;
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

int32_t train_kept_checkpoints(const Run *run) {
    return run->training->save_keep > 1 ? run->training->save_keep : 1;
}

/* Data, memory and weights. */
static UnetStatus load(Run *run) {
    Driver *driver = run->driver;
    const bool several = !ranks_alone(&driver->ranks);
    UnetStatus status = ranks_check_share(&driver->ranks, run->model, &driver->error);
    if (status == UNET_OK)
        status = open_data(run);
    signals_hold(); /* before the loader starts its threads */
    if (status == UNET_OK && several)
        status = train_reserve_ranks(run);
    if (status == UNET_OK && several)
        status = train_compare_ranks(run);
    if (status == UNET_OK)
        status = take_memory(run);
    if (status == UNET_OK)
        status = driver_connect_devices(driver, &run->device);
    if (status == UNET_OK)
        status = start_state(run);
    if (status == UNET_OK && train_leads(run) && !driver->options.resume)
        status = normal_measure(driver, run->data);
    if (status == UNET_OK && several)
        status = train_copy_state(run);
    if (status == UNET_OK)
        status = check_batch(run);
    if (status == UNET_OK && driver->options.resume)
        status = restore_unlogged(run);
    return status == UNET_OK ? device_push_weights(&run->device, &driver->error) : status;
}

/* The folder becomes this run's: its checkpoint shows before the first step that the folder takes
 * files, and makes --resume mean this run, also if it goes on from an earlier checkpoint. */
static UnetStatus begin_in_folder(Run *run) {
    Driver *driver = run->driver;
    UnetStatus status =
        run_folder_clear(&run->folder, driver, run->state.step, train_kept_checkpoints(run));
    if (status == UNET_OK && run->folder.is_new) {
        run->folder.begun = true;
        run->state.log_rows = 0;
        status = run_save_checkpoint(driver, run->device.arena, &run->state);
    }
    if (status == UNET_OK)
        status = open_log(run);
    if (status == UNET_OK)
        status = run_data_note(driver, &driver->error);
    run->state.log_rows = run->log.rows;
    if (status == UNET_OK && !run->folder.is_new && driver->options.resume_file != NULL)
        status = run_save_checkpoint(driver, run->device.arena, &run->state);
    run->saved = run->state.step;
    return status;
}

UnetStatus train_start(Run *run) {
    const Ranks *ranks = &run->driver->ranks;
    UnetStatus status = train_leads(run) ? run_folder_take(&run->folder, run->driver) : UNET_OK;
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
                               .batch = train_batch(run)};
    if (!ranks_alone(ranks)) {
        run->stream.mine_first = ranks->rank * ranks->share;
        run->stream.mine_last = run->stream.mine_first + ranks->share;
    }
    status = plan_schedule(run);
    if (status == UNET_OK && train_leads(run))
        status = board_open(&run->board, run->driver, run->eval_data, run->state.step, run->steps);
    if (status == UNET_OK && train_leads(run)) /* nothing is in the way any more */
        status = begin_in_folder(run);
    if (!train_leads(run)) { /* has no log; counts its rows as whoever leads */
        run->log.rows = run->state.log_rows = 0;
        run->saved = run->state.step;
    }
    run->first_step = run->begun = run->row_step = run->state.step;
    run->scale = scale_start(run->model, run->device.arena, run->state.step);
    return status;
}

void train_finish(Run *run) {
    board_close(run->board);
    unet_log_close(&run->log);
    free(run->value);
    free(run->identity);
    free(run->unlogged);
    free(run->said);
    train_forget_labels(run);
    tally_destroy(&run->train);
    tally_destroy(&run->shown);
    tally_destroy(&run->eval);
    device_close(&run->device);
    unet_loader_destroy(run->loader);
    unet_dataset_close(run->eval_data);
    unet_dataset_close(run->data);
    run_folder_leave(&run->folder);
}
