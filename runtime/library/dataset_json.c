/* dataset_json.c - the dataset.json of a folder in nnU-Net's raw layout, held against the model.
 *
 * It says what channels there are, which number means what in the files of labels, which of them counts
 * nowhere (`ignore`), and how many cases there are.  A model that was written for something else trains
 * without a complaint, and on the wrong things: check-data compares.  Regions, labels that are lists of
 * numbers, are unions of classes; the model has classes, so their numbers count one by one.
 */
#include "dataset_parts.h"
#include "unet/normal.h"
#include "unet/words.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { MOST_LABELS = UNET_IGNORED, TEXT_BYTES = 512 };

/* The contents of the file. */
typedef struct {
    const UnetDataset *dataset;
    Listener *listener;
    char path[UNET_PATH_BYTES];
    json_t *root;
    bool is_label[MOST_LABELS + 1];
    int32_t highest; /* label that counts, or -1 */
    int32_t ignore;  /* or -1 */
    bool regions;
} Description;

static UnetStatus problem(const Description *d, const UnetError *error) {
    return dataset_problem(d->listener, UNET_IO, error);
}

/* ---- labels ----------------------------------------------------------------------------------- */

static bool is_label(const json_t *value) {
    return json_is_integer(value) && json_integer_value(value) >= 0 &&
           json_integer_value(value) <= MOST_LABELS;
}

/* A number, or a list of them; false: something else. */
static bool take_label(Description *d, const char *name, const json_t *value) {
    if (strcmp(name, "ignore") == 0 && is_label(value)) {
        d->ignore = (int32_t)json_integer_value(value);
        return true;
    }
    if (is_label(value)) {
        d->is_label[json_integer_value(value)] = true;
        return true;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        d->regions = true;
        if (!is_label(json_array_get(value, i))) {
            return false;
        }
        d->is_label[json_integer_value(json_array_get(value, i))] = true;
    }
    return json_array_size(value) > 0;
}

static UnetStatus read_labels(Description *d, UnetError *error) {
    json_t *labels = json_object_get(d->root, "labels"), *value;
    const char *name;
    d->ignore = d->highest = -1;
    if (!json_is_object(labels)) {
        (void)unet_fail(error, UNET_IO, "%s: has no object \"labels\"", d->path);
        return problem(d, error);
    }
    json_object_foreach(labels, name, value) {
        if (!take_label(d, name, value)) {
            (void)unet_fail(error, UNET_IO,
                            "%s: the label \"%.100s\" is no whole number from 0 to %d, nor a list of such",
                            d->path, name, MOST_LABELS);
            return problem(d, error);
        }
    }
    for (int32_t k = 0; k <= MOST_LABELS; k++) {
        d->highest = d->is_label[k] ? k : d->highest;
    }
    return UNET_OK;
}

/* The input that labels fill, where files of labels have the numbers of classes. */
static const UnetInput *labels_input(const UnetDataset *dataset) {
    const int32_t series = dataset_series_of_labels(dataset);
    const UnetSource *source = series < 0 ? NULL : &dataset->source[dataset->series[series].source];
    return source == NULL || source->values != NULL ? NULL : &dataset->model->inputs[source->input];
}

static UnetStatus compare_labels(Description *d, UnetError *error) {
    const UnetInput *input = labels_input(d->dataset);
    UnetStatus status = UNET_OK;
    if (input == NULL || d->highest < 0) {
        return UNET_OK;
    }
    if (d->highest + 1 != input->classes) {
        (void)unet_fail(error, UNET_IO,
                        "%s has labels up to %" PRId32 ", and \"%.100s\" has %" PRId32
                        " classes: declare `labels(%" PRId32 ")`",
                        d->path, d->highest, input->name, input->classes, d->highest + 1);
        status = problem(d, error);
    }
    if (status == UNET_OK && d->ignore >= 0 && d->ignore != input->ignore) {
        (void)unet_fail(error, UNET_IO,
                        "%s says that label %" PRId32 " counts nowhere: declare `labels(%" PRId32
                        ", ignore = %" PRId32 ")`",
                        d->path, d->ignore, d->highest + 1, d->ignore);
        status = problem(d, error);
    }
    return status;
}

/* ---- channels --------------------------------------------------------------------------------- */

static const json_t *channel_names(const Description *d) {
    const json_t *names = json_object_get(d->root, "channel_names");
    return names != NULL ? names : json_object_get(d->root, "modality"); /* of its first version */
}

/* The source that reads the channels: the first that fills an input. */
static const UnetSource *image_source(const UnetDataset *dataset) {
    for (int32_t s = 0; s < dataset->nsource; s++) {
        const int32_t input = dataset->source[s].input;
        if (input >= 0 && !dataset->model->inputs[input].is_target && dataset->source[s].nterm > 0 &&
            dataset->source[s].term[0].volumes) {
            return &dataset->source[s];
        }
    }
    return NULL;
}

static UnetStatus compare_channels(Description *d, UnetError *error) {
    const UnetSource *source = image_source(d->dataset);
    const size_t count = json_object_size(channel_names(d));
    if (source == NULL || count == (size_t)source->channels) {
        return UNET_OK;
    }
    (void)unet_fail(error, UNET_IO,
                    "%s names %zu channel%s, and \"%.100s\" reads %" PRId32
                    ": declare `volume(%zu, depth, height, width)`",
                    d->path, count, unet_plural((int64_t)count), source->name, source->channels, count);
    return problem(d, error);
}

/* ---- the report -------------------------------------------------------------------------------- */

static void tell_normalizing(const Description *d, UnetNote *note, void *context) {
    const UnetSource *source = image_source(d->dataset);
    const char *name = json_string_value(json_object_get(channel_names(d), "0"));
    char text[TEXT_BYTES];
    if (source == NULL || name == NULL) {
        return;
    }
    const bool ct = strcasecmp(name, "CT") == 0;
    const UnetNormalizing how = d->dataset->model->inputs[source->input].normalizing;
    if (ct ? how != UNET_NORMALIZED_CT : !unet_normal_is_each(how)) {
        (void)snprintf(text, sizeof text,
                       "%.100s: dataset.json names the channel \"%.60s\", for which "
                       "nnU-Net would `normalize \"%s\"`",
                       source->name, name, ct ? "ct" : "zscore");
        note(context, text);
    }
}

static void tell(const Description *d, UnetNote *note, void *context) {
    const json_t *cases = json_object_get(d->root, "numTraining");
    char text[TEXT_BYTES];
    tell_normalizing(d, note, context);
    if (json_is_integer(cases) && json_integer_value(cases) != d->dataset->stems.count) {
        (void)snprintf(text, sizeof text,
                       "warning: dataset.json speaks of %lld cases, and there are %" PRId32,
                       (long long)json_integer_value(cases), d->dataset->stems.count);
        note(context, text);
    }
    if (d->regions) {
        note(context,
             "dataset.json has regions: each is a target `labels(2)`, of which `values = [[...], "
             "[...]]` lists the numbers beside it and in it; a target of all numbers takes them apart");
    }
}

UnetStatus dataset_check_json(const UnetDataset *dataset, Listener *listener, UnetNote *note,
                              UnetError *error) {
    Description d = {.dataset = dataset, .listener = listener};
    json_error_t wrong;
    const int n = snprintf(d.path, sizeof d.path, "%s/dataset.json", dataset->folder);
    if (!dataset->volumes || n < 0 || n >= (int)sizeof d.path || access(d.path, F_OK) != 0) {
        return UNET_OK;
    }
    d.root = json_load_file(d.path, JSON_REJECT_DUPLICATES, &wrong);
    if (!json_is_object(d.root)) {
        (void)unet_fail(error, UNET_IO, "%s:%d: %.200s", d.path, d.root == NULL ? wrong.line : 1,
                        d.root == NULL ? wrong.text : "is no object");
        json_decref(d.root);
        return problem(&d, error);
    }
    UnetStatus (*const look[])(Description *, UnetError *) = {read_labels, compare_labels,
                                                              compare_channels};
    const int64_t before = listener->count;
    UnetStatus status = UNET_OK;
    for (int i = 0; i < 3 && status == UNET_OK && listener->count == before; i++) {
        status = look[i](&d, error);
    }
    if (status == UNET_OK && listener->count == before && note != NULL) {
        tell(&d, note, listener->context);
    }
    json_decref(d.root);
    return status;
}
