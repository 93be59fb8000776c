/* embed_weights.c - the weights of a model inside another program (unet/embed.h): files, checkpoints, and
 * tensor by tensor.
 *
 * Requires: a buffer that is ready.  Provides: files that the model's own program reads, and the other way
 * round.
 */
#include "embed_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/parameters.h"

UnetStatus embed_push(const Parts *parts, UnetError *error) {
    const UnetModel *model = parts->head->model;
    parts->head->prepared = NULL;
    return model->device == NULL
               ? UNET_OK
               : model->device->push(parts->head->device, parts->arena, 0, model->persistent, error);
}

UnetStatus embed_fetch(const Parts *parts, int64_t offset, int64_t bytes, UnetError *error) {
    const UnetModel *model = parts->head->model;
    return model->device == NULL
               ? UNET_OK
               : model->device->fetch(parts->head->device, parts->arena, offset, bytes, error);
}

/* ---- normalisation ---------------------------------------------------------------------------- */

/* By numbers that are known before: what each volume is normalised by itself, the caller normalises. */
static bool is_normalized(const UnetInput *input) {
    return input->normalizing != UNET_AS_READ && !unet_normal_is_each(input->normalizing);
}

UnetNormal *embed_normal(const Parts *parts, int32_t i) {
    const UnetInput *inputs = parts->head->model->inputs;
    int32_t before = 0;
    for (int32_t k = 0; k < i; k++)
        before += is_normalized(&inputs[k]);
    return is_normalized(&inputs[i]) ? &parts->head->normal[before] : NULL;
}

/* Measured numbers stand in files of weights; until one is loaded, such an input is taken as it is. */
static UnetNormal start_normal(const UnetInput *input) {
    UnetNormal normal = input->normal;
    for (int c = 0; c < UNET_MOST_NORMALIZED && input->normalizing != UNET_NORMALIZED; c++) {
        normal.mean[c] = 0;
        normal.deviation[c] = 1;
    }
    return normal;
}

void embed_start_weights(const Parts *parts) {
    const UnetModel *model = parts->head->model;
    for (int32_t i = 0; i < model->ninput; i++)
        if (embed_normal(parts, i) != NULL)
            *embed_normal(parts, i) = start_normal(&model->inputs[i]);
    unet_parameters_init(model, parts->head->seed, parts->arena);
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* The notes of a checkpoint that say how far it is. */
static UnetStatus read_count(const UnetSafetensors *file, const char *key, int64_t *value,
                             UnetError *error) {
    const char *text = unet_safetensors_metadata(file, key);
    char *end = NULL;
    errno = 0;
    const long long number = text != NULL ? strtoll(text, &end, 10) : -1;
    if (text == NULL || end == text || *end != '\0' || errno != 0 || number < 0)
        return unet_fail(error, UNET_IO, "%s: not a checkpoint to continue from: %s is missing or wrong",
                         unet_safetensors_path(file), key);
    *value = number;
    return UNET_OK;
}

/* The optimiser's state, its steps and its seed. */
static UnetStatus read_training(const Parts *parts, const UnetSafetensors *file, UnetError *error) {
    int64_t steps = 0, seed = 0;
    UnetStatus status = read_count(file, "unet.step", &steps, error);
    if (status == UNET_OK)
        status = read_count(file, "unet.seed", &seed, error);
    if (status == UNET_OK)
        status = unet_moments_load(parts->head->model, file, steps, parts->arena, error);
    if (status == UNET_OK) {
        parts->head->steps = steps;
        parts->head->seed = (uint64_t)seed;
    }
    return status;
}

static UnetStatus read_file(const Parts *parts, const char *path, bool training, UnetError *error) {
    UnetSafetensors *file = NULL;
    const UnetModel *model = parts->head->model;
    UnetStatus status = unet_safetensors_open(&file, path, unet_parameters_header(model), error);
    if (status != UNET_OK)
        return status;
    for (int32_t i = 0; i < model->ninput && status == UNET_OK; i++)
        status = unet_normal_read(model, i, embed_normal(parts, i), file, error);
    if (status == UNET_OK)
        status = unet_parameters_load(model, file, UNET_LOAD_ALL, parts->arena, NULL, NULL, error);
    const char *bad = status == UNET_OK ? unet_parameters_not_finite(model, parts->arena) : NULL;
    if (bad != NULL)
        status = unet_fail(error, UNET_IO, "%s: %s has values that are not finite", path, bad);
    if (status == UNET_OK && training)
        status = read_training(parts, file, error);
    unet_safetensors_close(file);
    return status == UNET_OK ? embed_push(parts, error) : status;
}

UnetStatus unet_embed_load(void *buffer, const char *path, UnetError *error) {
    Parts parts;
    return embed_find(buffer, &parts) ? read_file(&parts, path, false, error) : embed_not_ready(error);
}

static UnetStatus check_trains(const Parts *parts, UnetError *error) {
    const UnetModel *model = parts->head->model;
    return model->train != NULL
               ? UNET_OK
               : unet_fail(error, UNET_USAGE, "%s was compiled without training, so it has no checkpoints",
                           model->name);
}

UnetStatus unet_embed_resume(void *buffer, const char *path, UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    UnetStatus status = check_trains(&parts, error);
    return status == UNET_OK ? read_file(&parts, path, true, error) : status;
}

/* ---- writing ---------------------------------------------------------------------------------- */

enum { PLAIN_NOTES = 16, NOTE_BYTES = 24 };
typedef struct {
    UnetMetadata entry[PLAIN_NOTES + UNET_MOST_NORMALIZED_INPUTS];
    char step[NOTE_BYTES], seed[NOTE_BYTES], batch[NOTE_BYTES];
    char key[UNET_MOST_NORMALIZED_INPUTS][UNET_NORMAL_KEY_BYTES];
    char normal[UNET_MOST_NORMALIZED_INPUTS][UNET_NORMAL_BYTES];
    int32_t count;
} Notes;

static void note(Notes *notes, const char *key, const char *value) {
    notes->entry[notes->count++] = (UnetMetadata){key, value};
}

static void note_number(Notes *notes, const char *key, char text[NOTE_BYTES], int64_t value) {
    (void)snprintf(text, NOTE_BYTES, "%" PRId64, value);
    note(notes, key, text);
}

static void note_normals(Notes *notes, const Parts *parts) {
    const UnetModel *model = parts->head->model;
    int32_t count = 0;
    for (int32_t i = 0; i < model->ninput; i++) {
        if (embed_normal(parts, i) == NULL)
            continue;
        unet_normal_key(model, i, notes->key[count]);
        unet_normal_format(embed_normal(parts, i), model->inputs[i].channels, notes->normal[count]);
        note(notes, notes->key[count], notes->normal[count]);
        count++;
    }
}

/* The rest of what the model's program reads from a checkpoint: no data set is known here, and nothing was
 * evaluated. */
static void note_training(Notes *notes, const UnetModel *model) {
    note(notes, "unet.source_hash", model->source_hash);
    note(notes, "unet.target", model->target);
    note(notes, "unet.precision", model->precision);
    note(notes, "unet.samples", "-1");
    note_number(notes, "unet.batch", notes->batch, model->train->batch);
    note(notes, "unet.evaluated", "-1");
    note(notes, "unet.best_step", "-1");
    note(notes, "unet.stale", "0");
    note(notes, "unet.plateau.scale", "1");
    note(notes, "unet.plateau.bad", "0");
}

static UnetStatus write_file(const Parts *parts, const char *path, bool training, UnetError *error) {
    const UnetModel *model = parts->head->model;
    Notes notes = {.count = 0};
    note(&notes, "format", "pt"); /* read by tools of the PyTorch world */
    note(&notes, "unet.model", model->name);
    note_number(&notes, "unet.step", notes.step, parts->head->steps);
    if (training) {
        note_number(&notes, "unet.seed", notes.seed, (int64_t)parts->head->seed);
        note_training(&notes, model);
    }
    note_normals(&notes, parts);
    UnetStatus status = embed_fetch(parts, 0, model->persistent, error);
    const char *bad =
        status == UNET_OK && training ? unet_parameters_not_finite(model, parts->arena) : NULL;
    if (bad != NULL)
        return unet_fail(error, UNET_DIVERGED, "%s is not finite after step %" PRId64, bad,
                         parts->head->steps);
    return status == UNET_OK ? unet_parameters_save(model, parts->arena, training, NULL, path, notes.entry,
                                                    notes.count, error)
                             : status;
}

UnetStatus unet_embed_save(void *buffer, const char *path, UnetError *error) {
    Parts parts;
    return embed_find(buffer, &parts) ? write_file(&parts, path, false, error) : embed_not_ready(error);
}

UnetStatus unet_embed_checkpoint(void *buffer, const char *path, UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    UnetStatus status = check_trains(&parts, error);
    return status == UNET_OK ? write_file(&parts, path, true, error) : status;
}

/* ---- tensor by tensor ------------------------------------------------------------------------- */

static int64_t elements(const UnetParameter *parameter) {
    int64_t count = 1;
    for (int32_t k = 0; k < parameter->rank; k++)
        count *= parameter->dim[k];
    return count;
}

static size_t bytes_of(const UnetModel *model, int32_t i) {
    return (size_t)elements(&model->parameter[i]) * unet_type_bytes(model->real);
}

UnetStatus unet_embed_get(void *buffer, void *const *values, UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    const UnetModel *model = parts.head->model;
    UnetStatus status = embed_fetch(&parts, 0, model->persistent, error);
    for (int32_t i = 0; i < model->nparameter && status == UNET_OK; i++)
        if (values[i] != NULL)
            memcpy(values[i], parts.arena + unet_weights_offset(model, i), bytes_of(model, i));
    return status;
}

static bool is_finite(const UnetModel *model, int32_t i, const void *values) {
    bool finite = true;
    for (int64_t k = 0; k < elements(&model->parameter[i]); k++)
        finite &= isfinite(model->real == UNET_F64 ? ((const double *)values)[k]
                                                   : (double)((const float *)values)[k]) != 0;
    return finite;
}

UnetStatus unet_embed_set(void *buffer, const void *const *values, UnetError *error) {
    Parts parts;
    if (!embed_find(buffer, &parts))
        return embed_not_ready(error);
    const UnetModel *model = parts.head->model;
    for (int32_t i = 0; i < model->nparameter; i++)
        if (values[i] != NULL && !is_finite(model, i, values[i]))
            return unet_fail(error, UNET_USAGE, "%s has values that are not finite",
                             model->parameter[i].name);
    UnetStatus status = embed_fetch(&parts, 0, model->persistent, error);
    for (int32_t i = 0; i < model->nparameter && status == UNET_OK; i++) {
        if (values[i] == NULL)
            continue;
        memcpy(parts.arena + model->parameter[i].offset, values[i], bytes_of(model, i));
        memcpy(parts.arena + unet_weights_offset(model, i), values[i], bytes_of(model, i));
    }
    return status == UNET_OK ? embed_push(&parts, error) : status;
}
