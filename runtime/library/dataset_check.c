/* dataset_check.c - looks for everything that could stop a training run because of its data. */
#include "dataset_parts.h"

#include <stdlib.h>

/* The problems found so far. */
typedef struct {
    const UnetDataset *dataset;
    Listener *listener;
    UnetDataCheck *check; /* NULL: nobody counts */
    LabelCount *count;    /* per source, or NULL */
    ColourCount *colours; /*   and of masks in colour */
} Check;

static void count_colours(const Check *c, const Sample *sample, int32_t series) {
    char path[UNET_PATH_BYTES];
    UnetError ignored;
    const FileSeries *files = &c->dataset->series[series];
    if (dataset_path(c->dataset, files, sample, path, &ignored) == UNET_OK) {
        dataset_count_colours(&c->colours[files->source], path, UNET_IMAGE_COLOURS);
    }
}

/* The rows of a file of classes. */
static UnetStatus read_classes(const Check *c, UnetImageReader *reader, const Sample *sample,
                               int32_t series, UnetError *error) {
    const UnetRowFormat format = unet_image_format(reader);
    const int32_t size[3] = {unet_image_info(reader).height, format.width, 1};
    LabelCount file = {.files = 0};
    UnetStatus status = UNET_OK;
    float *row = calloc((size_t)format.width, sizeof *row);
    if (row == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "no memory for a row of labels");
    }
    for (int32_t y = 0; y < size[0] && status == UNET_OK; y++) {
        status = unet_image_read_row(reader, row, error);
        if (status == UNET_OK) {
            status = dataset_to_classes(c->dataset, sample, series, row, format.width, error);
        }
        if (status == UNET_OK) {
            dataset_count_classes(&file, row, format.width);
        }
    }
    free(row);
    if (c->colours != NULL && format.stored == 3) {
        count_colours(c, sample, series);
    }
    if (status == UNET_OK && c->count != NULL) { /* part of a mask says nothing about its classes */
        dataset_count_file(&c->count[c->dataset->series[series].source], &file, size);
    }
    return status;
}

/* Reads the rows of a picture; only floats can stand for a missing number. */
static UnetStatus read_picture(const Check *c, UnetImageReader *reader, const Sample *sample,
                               int32_t series, UnetError *error) {
    const UnetRowFormat format = unet_image_format(reader);
    const int32_t height = unet_image_info(reader).height;
    const size_t count = (size_t)format.width * (size_t)format.channels;
    const bool words = c->dataset->source[c->dataset->series[series].source].words > 0;
    if (format.bits != 32 && !words) {
        return unet_image_skip_rows(reader, height, error);
    }
    float *row = calloc(count, sizeof *row);
    UnetStatus status = row != NULL ? UNET_OK : unet_fail(error, UNET_TOO_SMALL, "no memory for a row");
    for (int32_t y = 0; y < height && status == UNET_OK; y++) {
        status = unet_image_read_row(reader, row, error);
        if (status == UNET_OK) {
            status = words ? dataset_check_words(c->dataset, sample, series, row, (int32_t)count, error)
                           : dataset_settle_missing(c->dataset, sample, series, row, count, error);
        }
    }
    free(row);
    return status;
}

/* Looks at the classes of a volume, which was decoded when the dataset was opened. */
static UnetStatus check_volume(const Check *c, const Sample *sample, int32_t series, UnetError *error) {
    const UnetVoxels *volume = &sample->volume[series];
    const int32_t *size = volume->info.size, source = c->dataset->series[series].source;
    LabelCount file = {.files = 0};
    if (!dataset_is_labels(c->dataset, source)) {
        return UNET_OK;
    }
    for (int32_t k = 0; k < volume->facts.nvalue; k++) {
        float value = (float)volume->value[k];
        UnetStatus status = dataset_to_classes(c->dataset, sample, series, &value, 1, error);
        if (status != UNET_OK) {
            return status;
        }
        for (int32_t z = 0; z < size[0]; z++) {
            const uint32_t points = volume->count[(size_t)k * (size_t)size[0] + (size_t)z];
            file.points[(int32_t)value] += points;
        }
    }
    const int32_t counted[3] = {size[1], size[2], size[0]};
    if (c->count != NULL) {
        dataset_count_file(&c->count[source], &file, counted);
    }
    return UNET_OK;
}

/* Decodes one file to its end. */
static UnetStatus decode(const Check *c, const Sample *sample, int32_t series, UnetError *error) {
    UnetImageReader *reader;
    if (c->dataset->volumes) {
        return check_volume(c, sample, series, error);
    }
    UnetStatus status = dataset_open_file(c->dataset, sample, series, NULL, &reader, error);
    if (reader == NULL) {
        return status;
    }
    status = dataset_is_labels(c->dataset, c->dataset->series[series].source)
                 ? read_classes(c, reader, sample, series, error)
                 : read_picture(c, reader, sample, series, error);
    unet_image_close(reader);
    return status;
}

/* All files of a sample; *GOOD: none has a problem. */
static UnetStatus decode_sample(const Check *c, const Sample *sample, bool *good, UnetError *error) {
    *good = true;
    for (int32_t i = 0; i < c->dataset->nseries; i++) {
        UnetStatus status = decode(c, sample, i, error);
        if (c->check != NULL) {
            c->check->files++;
        }
        if (status != UNET_OK) {
            *good = false;
            status = dataset_problem(c->listener, status, error);
        }
        if (status != UNET_OK) {
            return status;
        }
    }
    return UNET_OK;
}

static UnetStatus decode_all(const Check *c, UnetError *error) {
    UnetStatus status = UNET_OK;
    bool good;
    for (int32_t s = 0; s < c->dataset->nsample && status == UNET_OK; s++) {
        status = decode_sample(c, &c->dataset->sample[s], &good, error);
    }
    return status;
}

UnetStatus dataset_leave_bad(UnetDataset *dataset, Listener *listener, UnetError *error) {
    const Check c = {.dataset = dataset, .listener = listener};
    const int32_t count = dataset->nsample;
    UnetStatus status = UNET_OK;
    int32_t kept = 0;
    for (int32_t s = 0; s < count && status == UNET_OK; s++) {
        bool good;
        status = decode_sample(&c, &dataset->sample[s], &good, error);
        if (good) {
            const Sample other = dataset->sample[kept];
            dataset->sample[kept++] = dataset->sample[s];
            dataset->sample[s] = other;
        }
    }
    for (int32_t s = kept; s < count && status == UNET_OK; s++) {
        dataset_close_volumes(dataset, &dataset->sample[s]);
    }
    dataset->nsample = status == UNET_OK ? kept : count;
    return status != UNET_OK || kept > 0
               ? status
               : unet_fail(error, UNET_IO, "no sample of the data is without a problem");
}

static void describe(const Check *c, UnetNote *note) {
    for (int32_t s = 0; s < c->dataset->nsource; s++) {
        dataset_describe_colours(c->dataset, s, &c->colours[s], note, c->listener->context);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): one for each source */
        if (dataset_is_labels(c->dataset, s) && c->count[s].files > 0) {
            dataset_describe_classes(c->dataset, s, &c->count[s], note, c->listener->context);
        }
    }
}

static UnetStatus check_purpose(const UnetModel *model, UnetPurpose purpose, UnetDataPlace place,
                                Listener *listener, UnetNote *note, UnetDataCheck *check,
                                UnetError *error) {
    UnetDataset *dataset;
    UnetStatus status = dataset_open(&dataset, model, purpose, place, false, listener, error);
    if (dataset == NULL) {
        return dataset_problem(listener, status, error);
    }
    Check c = {.dataset = dataset, .listener = listener, .check = check};
    c.count = calloc((size_t)dataset->nsource, sizeof *c.count);
    c.colours = calloc((size_t)dataset->nsource, sizeof *c.colours);
    status = c.count != NULL && c.colours != NULL
                 ? decode_all(&c, error)
                 : unet_fail(error, UNET_TOO_SMALL, "no memory to count classes");
    check->samples[purpose] = dataset->nsample;
    if (status == UNET_OK) {
        status = dataset_check_json(dataset, listener, note, error);
    }
    if (status == UNET_OK && note != NULL) {
        unet_dataset_notes(dataset, note, listener->context);
        dataset_describe_geometry(dataset, note, listener->context);
        describe(&c, note);
    }
    free(c.count);
    free(c.colours);
    unet_dataset_close(dataset);
    return status;
}

UnetStatus unet_check_data(const UnetModel *model, UnetDataPlace place, UnetProblemReport *report,
                           UnetNote *note, void *context, UnetDataCheck *check, UnetError *error) {
    Listener listener = {.report = report, .context = context};
    *check = (UnetDataCheck){0};
    UnetStatus status = UNET_OK;
    if (unet_dataset_exists(model, UNET_TRAINING)) {
        status = check_purpose(model, UNET_TRAINING, place, &listener, note, check, error);
    }
    if (status == UNET_OK && model->eval_data != NULL && model->eval_data->nsource > 0 &&
        model->eval != NULL) {
        status = check_purpose(model, UNET_EVALUATION, place, &listener, note, check, error);
    }
    check->problems = listener.count;
    return status;
}
