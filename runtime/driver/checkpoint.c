/* checkpoint.c - the files of a training run and how eval and predict find them.
 *
 *     NAME.safetensors                the weights after the last save
 *     NAME.best.safetensors           the weights of the best evaluation
 *     NAME.checkpoint.safetensors     weights, moments and RunState: what --resume continues from
 *     NAME.step-00001000.safetensors  the same, kept for a while (`save` in the model's file)
 *     NAME.previous.*safetensors      checkpoint and weights, last and best, of the run before, set aside
 *
 * Every file appears whole or not at all, and none is written with weights that are not finite.
 */
#include "driver.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unet/parameters.h"

/* ---- names ------------------------------------------------------------------------------------ */

UnetStatus run_path(const Driver *driver, const char *suffix, char path[UNET_PATH_BYTES],
                    UnetError *error) {
    int n = snprintf(path, UNET_PATH_BYTES, "%s/%s.%ssafetensors", run_folder(driver), driver->model->name,
                     suffix);
    if (n < 0 || n >= UNET_PATH_BYTES)
        return unet_fail(error, UNET_IO, "%s: the name of the folder is too long", run_folder(driver));
    return UNET_OK;
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* Metadata are strings; these live as long as the save. */
enum { PLAIN_NOTES = 19, NOTE_BYTES = 40 };
typedef struct {
    UnetMetadata entry[PLAIN_NOTES + UNET_MOST_NORMALIZED_INPUTS];
    char text[PLAIN_NOTES][NOTE_BYTES];
    char key[UNET_MOST_NORMALIZED_INPUTS][UNET_NORMAL_KEY_BYTES];
    char normal[UNET_MOST_NORMALIZED_INPUTS][UNET_NORMAL_BYTES];
    int32_t count;
} Notes;

static void note_text(Notes *notes, const char *key, const char *value) {
    notes->entry[notes->count++] = (UnetMetadata){key, value};
}

static void note_integer(Notes *notes, const char *key, int64_t value) {
    (void)snprintf(notes->text[notes->count], NOTE_BYTES, "%" PRId64, value);
    note_text(notes, key, notes->text[notes->count]);
}

static void note_real(Notes *notes, const char *key, double value) {
    (void)snprintf(notes->text[notes->count], NOTE_BYTES, "%.17g", value);
    note_text(notes, key, notes->text[notes->count]);
}

/* The numbers that inputs are normalised by, wherever they come from: whoever uses the weights needs them.
 */
static void note_normal(Notes *notes, const Driver *driver) {
    const UnetModel *model = driver->model;
    int count = 0;
    for (int i = 0; i < model->ninput && count < UNET_MOST_NORMALIZED_INPUTS; i++) {
        if (model->inputs[i].normalizing == UNET_AS_READ ||
            unet_normal_is_each(model->inputs[i].normalizing))
            continue;
        unet_normal_key(model, i, notes->key[count]);
        unet_normal_format(&driver->normal[i], model->inputs[i].channels, notes->normal[count]);
        note_text(notes, notes->key[count], notes->normal[count]);
        count++;
    }
}

static void note_run(Notes *notes, const Driver *driver, const RunState *state, bool all) {
    const UnetModel *model = driver->model;
    notes->count = 0;
    note_text(notes, "format", "pt"); /* read by tools of the PyTorch world */
    note_text(notes, "unet.model", model->name);
    note_integer(notes, "unet.seed", state->seed);
    note_integer(notes, "unet.step", state->step);
    if (!all)
        return;
    note_text(notes, "unet.source_hash", model->source_hash);
    note_text(notes, "unet.target", model->target);
    note_text(notes, "unet.precision", model->precision);
    if (state->engines[0] != '\0')
        note_text(notes, "unet.engines", state->engines);
    note_integer(notes, "unet.samples", state->samples);
    note_integer(notes, "unet.batch", state->batch);
    if (state->fold > 0)
        note_integer(notes, "unet.fold", state->fold);
    note_integer(notes, "unet.evaluated", state->evaluated);
    note_integer(notes, "unet.best_step", state->best_step);
    note_real(notes, "unet.best", state->best);
    note_integer(notes, "unet.stale", state->stale);
    note_real(notes, "unet.plateau.scale", state->plateau.scale);
    note_real(notes, "unet.plateau.best", state->plateau.best);
    note_integer(notes, "unet.plateau.bad", state->plateau.bad);
    note_integer(notes, "unet.log_rows", state->log_rows);
}

static void take_notes(Notes *notes, const Driver *driver, const RunState *state, bool all) {
    note_run(notes, driver, state, all);
    note_normal(notes, driver); /* its texts have places of their own */
}

static const char unlogged_name[] = "optimizer.unlogged"; /* so named, other programs leave it */

static UnetTensor unlogged_tensor(const RunState *state) {
    return (UnetTensor){.prefix = "",
                        .name = unlogged_name,
                        .type = UNET_F64,
                        .rank = 1,
                        .dim = {state->nunlogged},
                        .values = state->unlogged};
}

static UnetStatus save(Driver *driver, const char *arena, const RunState *state, const char *suffix,
                       bool all) {
    char path[UNET_PATH_BYTES];
    Notes notes;
    const char *bad = unet_parameters_not_finite(driver->model, arena);
    if (bad != NULL)
        return unet_fail(&driver->error, UNET_DIVERGED, "%s is no longer finite after step %" PRId64, bad,
                         state->step);
    UnetStatus status = run_path(driver, suffix, path, &driver->error);
    if (status != UNET_OK)
        return status;
    take_notes(&notes, driver, state, all);
    const UnetTensor unlogged = unlogged_tensor(state);
    return unet_parameters_save(driver->model, arena, all, all ? &unlogged : NULL, path, notes.entry,
                                notes.count, &driver->error);
}

UnetStatus run_save_weights(Driver *driver, const char *arena, const RunState *state, const char *suffix) {
    return save(driver, arena, state, suffix, false);
}

UnetStatus run_save_checkpoint(Driver *driver, const char *arena, const RunState *state) {
    return save(driver, arena, state, "checkpoint.", true);
}

enum { SUFFIX_BYTES = 40 };

static void numbered(char suffix[SUFFIX_BYTES], int64_t step) {
    (void)snprintf(suffix, SUFFIX_BYTES, "step-%08" PRId64 ".", step);
}

UnetStatus run_keep_checkpoint(Driver *driver, const char *arena, const RunState *state, int64_t forget) {
    char from[UNET_PATH_BYTES], to[UNET_PATH_BYTES], suffix[SUFFIX_BYTES];
    numbered(suffix, state->step);
    UnetStatus status = run_path(driver, "checkpoint.", from, &driver->error);
    if (status == UNET_OK)
        status = run_path(driver, suffix, to, &driver->error);
    if (status != UNET_OK)
        return status;
    /* The next checkpoint replaces the first name only, so a second name keeps this one at no cost. */
    (void)unlink(to);
    if (link(from, to) != 0) /* a file system without links */
        status = save(driver, arena, state, suffix, true);
    if (status == UNET_OK && forget > 0)
        (void)run_forget_checkpoint(driver,
                                    forget); /* it need not be there: a run may have started behind it */
    return status;
}

bool run_forget_checkpoint(const Driver *driver, int64_t step) {
    char path[UNET_PATH_BYTES], suffix[SUFFIX_BYTES];
    numbered(suffix, step);
    return run_path(driver, suffix, path, NULL) == UNET_OK && unlink(path) == 0;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static UnetStatus read_note(const UnetSafetensors *file, const char *key, int64_t *value,
                            UnetError *error) {
    const char *text = unet_safetensors_metadata(file, key);
    char *end;
    errno = 0;
    long long number = text != NULL ? strtoll(text, &end, 10) : -1;
    if (text == NULL || end == text || *end != 0 || errno != 0 || number < -1)
        return unet_fail(error, UNET_IO, "%s: not a checkpoint to continue from: %s is missing or wrong",
                         unet_safetensors_path(file), key);
    *value = number;
    return UNET_OK;
}

/* Older checkpoints have none, and *VALUE stays. */
static UnetStatus read_later_note(const UnetSafetensors *file, const char *key, int64_t *value,
                                  UnetError *error) {
    return unet_safetensors_metadata(file, key) == NULL ? UNET_OK : read_note(file, key, value, error);
}

static double read_real(const UnetSafetensors *file, const char *key, double otherwise) {
    const char *text = unet_safetensors_metadata(file, key);
    return text != NULL ? strtod(text, NULL) : otherwise;
}

static UnetStatus read_state(const UnetSafetensors *file, RunState *state, UnetError *error) {
    const struct {
        const char *key;
        int64_t *value;
    } notes[] = {{"unet.seed", &state->seed},
                 {"unet.step", &state->step},
                 {"unet.samples", &state->samples},
                 {"unet.evaluated", &state->evaluated},
                 {"unet.best_step", &state->best_step},
                 {"unet.stale", &state->stale},
                 {"unet.plateau.bad", &state->plateau.bad}};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        UnetStatus status = read_note(file, notes[i].key, notes[i].value, error);
        if (status != UNET_OK)
            return status;
    }
    state->log_rows = -1;
    state->fold = 0;
    UnetStatus status = read_later_note(file, "unet.batch", &state->batch, error);
    if (status == UNET_OK)
        status = read_later_note(file, "unet.fold", &state->fold, error);
    if (status == UNET_OK)
        status = read_later_note(file, "unet.log_rows", &state->log_rows, error);
    if (status != UNET_OK)
        return status;
    state->best = read_real(file, "unet.best", NAN);
    state->plateau.best = read_real(file, "unet.plateau.best", NAN);
    state->plateau.scale = read_real(file, "unet.plateau.scale", 1);
    if (!(state->plateau.scale > 0 && state->plateau.scale <= 1))
        return unet_fail(error, UNET_IO, "%s: unet.plateau.scale is not a share of the learning rate",
                         unet_safetensors_path(file));
    if (state->step < 0 || state->seed < 0)
        return unet_fail(error, UNET_IO, "%s: the step or seed is negative", unet_safetensors_path(file));
    return UNET_OK;
}

/* A checkpoint of a changed model is continued all the same, when its tensors fit: a new learning rate is a
 * good reason. */
static void compare_source(const Driver *driver, const UnetSafetensors *file) {
    const char *hash = unet_safetensors_metadata(file, "unet.source_hash");
    if (hash == NULL || strcmp(hash, driver->model->source_hash) != 0)
        (void)fprintf(stderr,
                      "note: %s was written by a program made from another %s or with other options\n",
                      unet_safetensors_path(file), driver->model->source);
}

/* A training may continue with another target or precision: neither is part of the model. */
static void compare_computation(const UnetModel *model, const UnetSafetensors *file) {
    const char *path = unet_safetensors_path(file);
    const char *target = unet_safetensors_metadata(file, "unet.target");
    const char *precision = unet_safetensors_metadata(file, "unet.precision");
    if (target != NULL && precision != NULL &&
        (strcmp(target, model->target) != 0 || strcmp(precision, model->precision) != 0))
        (void)fprintf(
            stderr,
            "note: %s was trained by a program for %s in %s, and this one is for %s in %s: training "
            "continues from the same weights and rounds differently\n",
            path, target, precision, model->target, model->precision);
    const bool codes = unet_has_state_codes(model);
    if (codes != unet_file_has_state_codes(file))
        (void)fprintf(
            stderr,
            "note: %s has the optimizer's state in %d bits, and this program keeps it in %d: training "
            "continues from the same weights and rounds differently\n",
            path, codes ? 32 : 8, codes ? 8 : 32);
    if (model->loss_scale > 0 && !unet_has_loss_scale(file))
        (void)fprintf(stderr, "note: %s has no loss scale; it starts at %d\n", path, UNET_LOSS_SCALE_START);
    if (model->loss_scale <= 0 && unet_has_loss_scale(file))
        (void)fprintf(stderr, "note: the loss scale in %s is not used in %s\n", path, model->precision);
}

/* On a GPU results depend, in their last bits, on the engines that compute. */
static void compare_engines(const RunState *state, const UnetSafetensors *file) {
    const char *engines = unet_safetensors_metadata(file, "unet.engines");
    if (engines != NULL && state->engines[0] != '\0' && strcmp(engines, state->engines) != 0)
        (void)fprintf(stderr,
                      "note: %s was trained with other engines of cuDNN (%s; these are %s): training "
                      "continues from the same weights and rounds differently\n",
                      unet_safetensors_path(file), engines, state->engines);
}

/* Older checkpoints have none, and checkpoints of a model with other metrics have others. */
static UnetStatus read_unlogged(const UnetSafetensors *file, RunState *state, UnetError *error) {
    const int32_t index = unet_safetensors_find(file, unlogged_name);
    state->has_unlogged = index >= 0 && unet_safetensors_tensor(file, index)->count == state->nunlogged;
    return state->has_unlogged ? unet_safetensors_read(file, index, UNET_F64, state->unlogged, error)
                               : UNET_OK;
}

/* PATH, from which `--resume` without a file goes on, is not there. */
static UnetStatus fail_no_run(Driver *driver, const char *path) {
    char other[UNET_PATH_BYTES];
    const char *folder = run_folder(driver);
    if (run_folder_other(folder, other))
        return unet_fail(&driver->error, UNET_IO,
                         "`--resume`: %s holds the run of a program of another name: "
                         "`--resume=%s/%s` goes on from it where the network is the same",
                         folder, folder, other);
    return unet_fail(&driver->error, UNET_IO,
                     "`--resume`: no run to go on with, as there is no %s: leave `--resume` out to begin "
                     "one, or name the folder of the run with `--out=DIR`",
                     path);
}

/* The tensors of the checkpoint NAME do not fit. */
static void advise_changed(Driver *driver, const UnetSafetensors *file, const char *name) {
    const char *hash = unet_safetensors_metadata(file, "unet.source_hash");
    if (hash != NULL && strcmp(hash, driver->model->source_hash) != 0)
        unet_fail_more(&driver->error,
                       "; the network has changed since then: train anew in another `--out`, with "
                       "`--weights=%s` from what still fits",
                       name);
}

UnetStatus run_resume(Driver *driver, char *arena, RunState *state) {
    char path[UNET_PATH_BYTES];
    UnetSafetensors *file = NULL;
    UnetStatus status = run_path(driver, "checkpoint.", path, &driver->error);
    const char *name = driver->options.resume_file != NULL ? driver->options.resume_file : path;
    if (status == UNET_OK && name == path && access(path, F_OK) != 0 && errno == ENOENT)
        return fail_no_run(driver, path);
    if (status == UNET_OK)
        status = unet_safetensors_open(&file, name, unet_parameters_header(driver->model), &driver->error);
    if (status == UNET_OK)
        status = read_state(file, state, &driver->error);
    if (status == UNET_OK)
        status = read_unlogged(file, state, &driver->error);
    if (status == UNET_OK)
        status = normal_read(driver, file);
    if (status == UNET_OK) {
        status =
            unet_parameters_load(driver->model, file, UNET_LOAD_ALL, arena, NULL, NULL, &driver->error);
        if (status != UNET_OK)
            advise_changed(driver, file, name);
    }
    if (status == UNET_OK)
        status = unet_moments_load(driver->model, file, state->step, arena, &driver->error);
    if (status == UNET_OK) {
        compare_source(driver, file);
        compare_computation(driver->model, file);
        compare_engines(state, file);
        (void)fprintf(stderr, "resuming from step %" PRId64 " of %s\n", state->step, name);
    }
    unet_safetensors_close(file);
    return status;
}

static void report_skipped(void *path, const char *name, const char *why) {
    (void)fprintf(stderr, "note: %s: %s: %s\n", (const char *)path, name, why);
}

/* MAP: other names for the tensors, or NULL. */
static UnetStatus load(Driver *driver, const char *path, const char *map, UnetLoadMode mode, char *arena) {
    char name[UNET_PATH_BYTES];
    UnetSafetensors *file;
    UnetStatus status =
        unet_safetensors_open(&file, path, unet_parameters_header(driver->model), &driver->error);
    if (status != UNET_OK)
        return status;
    (void)snprintf(name, sizeof name, "%s", path);
    if (map != NULL)
        status = unet_safetensors_rename(file, map, &driver->error);
    if (status == UNET_OK)
        status =
            unet_parameters_load(driver->model, file, mode, arena, report_skipped, name, &driver->error);
    const char *bad = status == UNET_OK ? unet_parameters_not_finite(driver->model, arena) : NULL;
    if (bad != NULL)
        status = unet_fail(&driver->error, UNET_IO, "%s: %s has values that are not finite", path, bad);
    if (status == UNET_OK && mode == UNET_LOAD_ALL)
        status = normal_read(driver, file);
    unet_safetensors_close(file);
    return status;
}

UnetStatus run_load_pretrained(Driver *driver, const char *path, const char *map, char *arena) {
    (void)fprintf(stderr, "starting from the weights in %s\n", path);
    return load(driver, path, map, UNET_LOAD_MATCHING, arena);
}

UnetStatus run_load_weights(Driver *driver, char *arena) {
    char path[UNET_PATH_BYTES];
    const UnetStatus status = run_weights_path(driver, path);
    if (status == UNET_OK && driver->options.weights == NULL)
        (void)fprintf(stderr, "weights: %s\n", path);
    return status == UNET_OK ? load(driver, path, driver->options.map, UNET_LOAD_ALL, arena) : status;
}

UnetStatus run_weights_path(Driver *driver, char path[UNET_PATH_BYTES]) {
    static const char *const suffix[] = {"best.", ""};
    const char *given = driver->options.weights;
    if (given != NULL)
        return snprintf(path, UNET_PATH_BYTES, "%s", given) < UNET_PATH_BYTES
                   ? UNET_OK
                   : unet_fail(&driver->error, UNET_IO, "%s: the name is too long", given);
    for (int i = 0; i < 2; i++) {
        UnetStatus status = run_path(driver, suffix[i], path, &driver->error);
        if (status != UNET_OK || access(path, F_OK) == 0)
            return status;
    }
    return unet_fail(
        &driver->error, UNET_IO,
        "no weights: %s holds neither %s.best.safetensors nor %s.safetensors; name the folder of a "
        "training by --out=DIR, or a file by --weights=FILE, or train first",
        driver->options.out != NULL ? run_folder(driver) : "this folder", driver->model->name,
        driver->model->name);
}
