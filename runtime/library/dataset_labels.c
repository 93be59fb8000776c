/* dataset_labels.c - classes out of the numbers in files.
 *
 * Requires: the sources.  Provides: for each that fills labels a table from the numbers in its files to
 * classes; a number that is none is an error with the name of its file.
 */
#include "dataset_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = UINT16_MAX + 1, NO_CLASS = UINT16_MAX };

static const UnetInput *labels_of(const UnetDataset *dataset, int32_t source) {
    const int32_t input = dataset->source[source].input;
    const bool labels = input >= 0 && dataset->model->inputs[input].kind == UNET_LABELS;
    return labels ? &dataset->model->inputs[input] : NULL;
}

bool dataset_is_labels(const UnetDataset *dataset, int32_t source) {
    return labels_of(dataset, source) != NULL;
}

/* The number in files of class K. */
static int32_t number_of(const UnetSource *source, int32_t k) {
    return source->values != NULL ? source->values[k] : k;
}

bool dataset_make_classes(UnetDataset *dataset) {
    dataset->class_of = calloc((size_t)dataset->nsource, sizeof *dataset->class_of);
    for (int32_t s = 0; dataset->class_of != NULL && s < dataset->nsource; s++) {
        const UnetInput *labels = labels_of(dataset, s);
        if (labels == NULL) {
            continue;
        }
        uint16_t *table = malloc(NUMBERS * sizeof *table);
        dataset->class_of[s] = table;
        if (table == NULL) {
            return false;
        }
        for (int32_t i = 0; i < NUMBERS; i++) {
            table[i] = NO_CLASS;
        }
        for (int32_t k = 0; k < labels->classes; k++) {
            table[number_of(&dataset->source[s], k)] = (uint16_t)k;
        }
        if (labels->ignore >= 0) {
            table[labels->ignore] = UNET_IGNORED;
        }
    }
    return dataset->class_of != NULL;
}

void dataset_free_classes(UnetDataset *dataset) {
    for (int32_t s = 0; dataset->class_of != NULL && s < dataset->nsource; s++) {
        free(dataset->class_of[s]);
    }
    free(dataset->class_of);
}

static UnetStatus no_class(const UnetDataset *dataset, const Sample *sample, const FileSeries *series,
                           int32_t number, UnetError *error) {
    char path[UNET_PATH_BYTES];
    const UnetInput *labels = labels_of(dataset, series->source);
    UnetStatus status = dataset_path(dataset, series, sample, path, error);
    if (status != UNET_OK) {
        return status;
    }
    if (dataset->source[series->source].values != NULL) {
        return unet_fail(error, UNET_IO,
                         "%.900s has a point of value %" PRId32
                         ", which is not among the `values` of \"%.100s\"",
                         path, number, labels->name);
    }
    return unet_fail(error, UNET_IO,
                     "%.900s has a point of value %" PRId32 ", and \"%.100s\" has the classes 0 to %" PRId32
                     "; `values = [...]` says which values mean which class, `ignore = %" PRId32
                     "` that such points count nowhere",
                     path, number, labels->name, labels->classes - 1, number);
}

UnetStatus dataset_to_classes(const UnetDataset *dataset, const Sample *sample, int32_t series, float *row,
                              int32_t count, UnetError *error) {
    const FileSeries *files = &dataset->series[series];
    const uint16_t *class_of = dataset->class_of[files->source];
    for (int32_t x = 0; x < count; x++) {
        const int32_t number = (int32_t)row[x];
        if (class_of[number] == NO_CLASS) {
            return no_class(dataset, sample, files, number, error);
        }
        row[x] = class_of[number];
    }
    return UNET_OK;
}

/* ---- what check-data says --------------------------------------------------------------------- */

void dataset_count_classes(LabelCount *count, const float *row, int32_t width) {
    for (int32_t x = 0; x < width; x++) {
        count->points[(int32_t)row[x]]++;
    }
}

/* "truth: class 0 (value 0) 78.2 %, class 1 (value 255) 21.8 %; never seen: class 2 (value 3)" */
void dataset_describe_classes(const UnetDataset *dataset, int32_t source, const LabelCount *count,
                              char *text, size_t size) {
    const UnetInput *labels = labels_of(dataset, source);
    int64_t all = 0;
    int length = snprintf(text, size, "%.100s: %" PRId64 " files", labels->name, count->files);
    for (int32_t k = 0; k <= UNET_IGNORED; k++) {
        all += count->points[k];
    }
    length += snprintf(text + length, size - (size_t)length,
                       count->least[0] == count->most[0] && count->least[1] == count->most[1]
                           ? " of %" PRId32 " x %" PRId32
                           : " of %" PRId32 " x %" PRId32 " to %" PRId32 " x %" PRId32,
                       count->least[0], count->least[1], count->most[0], count->most[1]);
    for (int seen = 1; seen >= 0; seen--) {
        for (int32_t k = 0; k < labels->classes && (size_t)length + 100 < size; k++) {
            if ((count->points[k] > 0) != seen) {
                continue;
            }
            length +=
                snprintf(text + length, size - (size_t)length, "%s class %" PRId32 " (value %" PRId32 ")",
                         seen ? "," : "; never seen:", k, number_of(&dataset->source[source], k));
            if (seen) {
                length += snprintf(text + length, size - (size_t)length, " %.3g %%",
                                   100 * (double)count->points[k] / (double)all);
            }
        }
    }
    if (count->points[UNET_IGNORED] > 0 && (size_t)length + 100 < size) {
        (void)snprintf(text + length, size - (size_t)length, "; ignored %.3g %%",
                       100 * (double)count->points[UNET_IGNORED] / (double)all);
    }
}
