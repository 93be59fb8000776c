/* dataset_folder.c - the class of a sample, which the folder of a file names: "birds/7.png" is of class
 * "birds", and "3/7.png" of class 3.
 */
#include "dataset_parts.h"
#include "unet/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 1 << 24 }; /* numbers that a float holds */

const UnetSourceTerm *unet_class_term(const UnetSource *source) {
    for (int32_t t = 0; t < source->nterm; t++) {
        if (source->term[t].op == UNET_SRC_CLASS) {
            return &source->term[t];
        }
    }
    return NULL;
}

int32_t unet_class_named(const char *const *names, const char *name, size_t length) {
    char *end;
    for (int32_t i = 0; names != NULL && names[i] != NULL; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) {
            return i;
        }
    }
    if (names != NULL || length == 0 || length > 9 || *name < '0' || *name > '9') {
        return -1;
    }
    const long number = strtol(name, &end, 10);
    return end == name + length && number < MOST_CLASSES ? (int32_t)number : -1;
}

/* The folder in which PATH lies; *LENGTH: of its name, 0 if there is none. */
static const char *folder_of(const char *path, size_t *length) {
    const char *end = strrchr(path, '/'), *start = end;
    *length = 0;
    if (end == NULL) {
        return path;
    }
    while (start > path && start[-1] != '/') {
        start--;
    }
    *length = (size_t)(end - start);
    return start;
}

static UnetStatus fail_class(const UnetDataset *dataset, const UnetSourceTerm *term, const Sample *sample,
                             const FileSeries *series, UnetError *error) {
    char path[UNET_PATH_BYTES];
    const UnetStatus status = dataset_path(dataset, series, sample, path, error);
    return status != UNET_OK
               ? status
               : unet_fail(error, UNET_IO, "%s lies in a folder that is no class: %s (line %" PRId32 ")",
                           path,
                           term->more == NULL ? "the name of the folder must be a whole number, "
                                                "or write `names = [...]`"
                                              : "`names` does not list the folder",
                           term->line);
}

static UnetStatus classes_of(UnetDataset *dataset, int32_t index, const UnetSourceTerm *term,
                             UnetError *error) {
    const int32_t named = dataset_source(dataset, index, term->pattern),
                  first = named < 0 ? -1 : dataset->scale[named].first_series;
    if (first < 0 || first >= dataset->nseries || dataset->series[first].source != named) {
        return unet_fail(error, UNET_BUG, "the data source \"%.100s\" is malformed",
                         dataset->source[index].name);
    }
    const FileSeries *series = &dataset->series[first];
    for (int32_t i = 0; i < dataset->nsample; i++) {
        const Sample *sample = &dataset->sample[i];
        size_t length;
        const char *folder = folder_of(series->word.item[sample->stem], &length);
        const int32_t class = unet_class_named(term->more, folder, length);
        if (class < 0) {
            return fail_class(dataset, term, sample, series, error);
        }
        dataset->folder_class[(size_t)sample->stem * (size_t)dataset->nsource + (size_t)index] = class;
    }
    return UNET_OK;
}

UnetStatus dataset_class_samples(UnetDataset *dataset, UnetError *error) {
    bool needed = false;
    UnetStatus status = UNET_OK;
    for (int32_t s = 0; s < dataset->nsource; s++) {
        needed |= unet_class_term(&dataset->source[s]) != NULL;
    }
    if (!needed) {
        return UNET_OK;
    }
    dataset->folder_class =
        calloc((size_t)dataset->stems.count + 1, (size_t)dataset->nsource * sizeof *dataset->folder_class);
    if (dataset->folder_class == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "out of memory while classes are found");
    }
    for (int32_t s = 0; s < dataset->nsource && status == UNET_OK; s++) {
        const UnetSourceTerm *term = unet_class_term(&dataset->source[s]);
        status = term == NULL ? UNET_OK : classes_of(dataset, s, term, error);
    }
    return status;
}

float dataset_folder_class(const UnetDataset *dataset, const Sample *sample, int32_t index) {
    return (float)dataset->folder_class[(size_t)sample->stem * (size_t)dataset->nsource + (size_t)index];
}
