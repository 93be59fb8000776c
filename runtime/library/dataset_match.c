/* dataset_match.c - which files belong together: those of one folder for which the stars of all patterns
 * stand for the same.  A pattern without stars names one file that belongs to every sample of its folder.
 * Where sources name several folders, the first pattern of one belongs to the first of another, and so on.
 */
#include "dataset_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

UnetStatus dataset_problem(Listener *listener, UnetStatus status, const UnetError *error) {
    if (listener == NULL) {
        return status;
    }
    listener->report(listener->context, error->text);
    listener->count++;
    return UNET_OK;
}

const char *dataset_pattern(const FileSeries *series, int32_t folder) {
    if (folder == 0 || series->more == NULL) {
        return folder == 0 ? series->pattern : NULL;
    }
    int32_t i = 1;
    while (i < folder && series->more[i - 1] != NULL) {
        i++;
    }
    return series->more[i - 1];
}

static int32_t folder_of(const UnetDataset *dataset, int32_t stem) {
    int32_t folder = 0;
    while (dataset->folder_end != NULL && stem >= dataset->folder_end[folder]) {
        folder++;
    }
    return folder;
}

UnetStatus dataset_path(const UnetDataset *dataset, const FileSeries *series, const Sample *sample,
                        char path[UNET_PATH_BYTES], UnetError *error) {
    if (series->column > 0) {
        return dataset_named_path(dataset, series, sample->stem, path, error);
    }
    const char *pattern = dataset_pattern(series, folder_of(dataset, sample->stem));
    return pattern_path(path, dataset->folder, pattern, dataset->stems.item[sample->stem], error);
}

UnetStatus dataset_open_file(const UnetDataset *dataset, const Sample *sample, int32_t index,
                             UnetImageMemory *memory, UnetImageReader **reader, UnetError *error) {
    const FileSeries *series = &dataset->series[index];
    char path[UNET_PATH_BYTES];
    *reader = NULL;
    UnetStatus status = dataset_path(dataset, series, sample, path, error);
    if (status == UNET_OK) {
        status = unet_image_open_in(memory, reader, path, series->channels, error);
    }
    if (*reader == NULL) {
        return status;
    }
    UnetImageInfo info = unet_image_info(*reader);
    int32_t multiple = dataset->scale[series->source].multiple;
    if (info.height != sample->size[0] * multiple || info.width != sample->size[1] * multiple) {
        unet_image_close(*reader);
        *reader = NULL;
        return unet_fail(error, UNET_IO, "%s has changed its size since the start", path);
    }
    return UNET_OK;
}

/* STEM has a file of PRESENT and none of ABSENT. */
static UnetStatus missing_partner(const UnetDataset *dataset, const char *stem, const char *present,
                                  const char *absent, Listener *listener, UnetError *error) {
    char path[UNET_PATH_BYTES], partner[UNET_PATH_BYTES];
    UnetStatus status = pattern_path(path, dataset->folder, present, stem, error);
    if (status == UNET_OK) {
        status = pattern_path(partner, dataset->folder, absent, stem, error);
    }
    if (status != UNET_OK) {
        return status;
    }
    status = unet_fail(error, UNET_IO, "%.400s has no partner: \"%.100s\" asks for %.400s", path, absent,
                       partner);
    return dataset_problem(listener, status, error);
}

/* Two sorted lists, by merging; what only one has is a problem, and only the common stems stay in STEMS. */
static UnetStatus keep_common(UnetDataset *dataset, StemList *stems, const char *first, const char *second,
                              const StemList *other, Listener *listener, UnetError *error) {
    int32_t i = 0, j = 0, kept = 0;
    UnetStatus status = UNET_OK;
    while (status == UNET_OK && (i < stems->count || j < other->count)) {
        int order = i == stems->count ? 1 : j == other->count ? -1 : strcmp(stems->item[i], other->item[j]);
        if (order < 0) {
            status = missing_partner(dataset, stems->item[i++], first, second, listener, error);
        } else if (order > 0) {
            status = missing_partner(dataset, other->item[j++], second, first, listener, error);
        } else { /* swapped, so that the list still owns every stem once */
            char *common = stems->item[i];
            stems->item[i] = stems->item[kept];
            stems->item[kept++] = common;
            i++;
            j++;
        }
    }
    while (status == UNET_OK && stems->count > kept) {
        free(stems->item[--stems->count]);
    }
    return status;
}

/* Does SERIES have PATTERN in other letters, too, as "*.JPG" beside "*.jpg"? */
static bool has_both_cases(const FileSeries *series, const char *pattern) {
    const char *other = NULL;
    for (int32_t f = 0; (other = dataset_pattern(series, f)) != NULL; f++) {
        if (strcasecmp(other, pattern) == 0 && strcmp(other, pattern) != 0) {
            return true;
        }
    }
    return false;
}

static UnetStatus expand(const UnetDataset *dataset, FileSeries *series, const char *pattern,
                         StemList *stems, UnetError *error) {
    const bool both = has_both_cases(series, pattern);
    const UnetStatus status = pattern_expand(dataset->folder, pattern, stems, error);
    if (status == UNET_OK && !both && stems->other_case > 0) {
        series->other_case += stems->other_case;
        memcpy(series->other_name, stems->other_name, sizeof series->other_name);
    }
    return status == UNET_IO && both && stems->count == 0 ? UNET_OK
                                                          : status; /* the other has files, or none has */
}

/* The stems of one folder. */
static UnetStatus match_folder(UnetDataset *dataset, int32_t folder, StemList *stems, Listener *listener,
                               UnetError *error) {
    const char *first = NULL;
    for (int32_t i = 0; i < dataset->nseries; i++) {
        const char *pattern = dataset_pattern(&dataset->series[i], folder);
        if (pattern == NULL) {
            return unet_fail(error, UNET_BUG, "the data sources name different numbers of folders");
        }
        if (pattern_stars(pattern) == 0) {
            continue;
        }
        if (first == NULL) {
            first = pattern;
            UnetStatus status = expand(dataset, &dataset->series[i], pattern, stems, error);
            if (status != UNET_OK) {
                return status;
            }
            continue;
        }
        if (pattern_stars(pattern) != pattern_stars(first)) {
            return unet_fail(error, UNET_IO,
                             "the patterns \"%.200s\" and \"%.200s\" cannot be paired: %d and %d stars",
                             first, pattern, pattern_stars(first), pattern_stars(pattern));
        }
        StemList other = {0};
        UnetStatus status = expand(dataset, &dataset->series[i], pattern, &other, error);
        if (status == UNET_OK) {
            status = keep_common(dataset, stems, first, pattern, &other, listener, error);
        }
        stems_free(&other);
        if (status != UNET_OK) {
            return status;
        }
    }
    if (first == NULL && dataset->nseries > 0) {
        first = dataset_pattern(&dataset->series[0], folder);
        return pattern_expand(dataset->folder, first, stems, error);
    }
    return UNET_OK;
}

/* STEMS of FOLDER, one of FOLDERS, join those of the others. */
static UnetStatus append(UnetDataset *dataset, int32_t folder, int32_t folders, const StemList *stems,
                         UnetError *error) {
    const char *pattern = dataset_pattern(&dataset->series[0], folder);
    for (int32_t i = 0; i < stems->count; i++) {
        char name[UNET_PATH_BYTES];
        UnetStatus status = pattern_path(name, NULL, pattern, stems->item[i], error);
        if (status != UNET_OK) {
            return status;
        }
        if (!stems_add(&dataset->stems, stems->item[i]) ||
            (folders > 1 && !stems_add(&dataset->names, name))) {
            return unet_fail(error, UNET_TOO_SMALL, "out of memory while reading the names of files");
        }
    }
    return UNET_OK;
}

UnetStatus dataset_match(UnetDataset *dataset, Listener *listener, UnetError *error) {
    if (dataset_is_listed(dataset)) {
        return dataset_read_lists(dataset, error);
    }
    int32_t folders = 1;
    for (int32_t i = 0; i < dataset->nseries; i++) {
        while (dataset_pattern(&dataset->series[i], folders) != NULL) {
            folders++;
        }
    }
    dataset->folder_end = calloc((size_t)folders, sizeof *dataset->folder_end);
    if (dataset->folder_end == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "out of memory while reading the names of files");
    }
    UnetStatus status = UNET_OK;
    for (int32_t folder = 0; folder < folders && status == UNET_OK; folder++) {
        StemList stems = {0};
        status = match_folder(dataset, folder, &stems, listener, error);
        if (status == UNET_OK) {
            status = append(dataset, folder, folders, &stems, error);
        }
        dataset->folder_end[folder] = dataset->stems.count;
        stems_free(&stems);
    }
    if (status == UNET_OK && dataset->nseries > 0 && dataset->stems.count == 0) {
        StemList none = {0};
        status = pattern_expand(dataset->folder, dataset->series[0].pattern, &none, error);
        stems_free(&none);
    }
    return status;
}
