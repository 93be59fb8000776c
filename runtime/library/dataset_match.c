/* dataset_match.c - which files belong together: those of one folder for which the stars of all patterns
 * stand for the same.  A pattern without stars names one file that belongs to every sample of its folder.
 * Where sources name several folders, the first pattern of one belongs to the first of another, and so on.
 * Patterns of a source that differ in case alone, "*.jpg" and "*.JPG", are one folder to its partners: each
 * of their files may be of either.
 */
#include "dataset_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

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

/* The next pattern of SERIES from the one of folder *F on that is PATTERN in another case; NULL: there is
 * none. */
static const char *other_case(const FileSeries *series, const char *pattern, int32_t *f) {
    const char *other = NULL;
    while ((other = dataset_pattern(series, (*f)++)) != NULL) {
        if (strcasecmp(other, pattern) == 0 && strcmp(other, pattern) != 0) {
            return other;
        }
    }
    return NULL;
}

/* Is there a file of STEM by a pattern of SERIES that is PATTERN in another case?  PATH becomes its path.
 */
static bool find_other_case(const UnetDataset *dataset, const FileSeries *series, const char *pattern,
                            const char *stem, char path[UNET_PATH_BYTES]) {
    const char *other = NULL;
    for (int32_t f = 0; (other = other_case(series, pattern, &f)) != NULL;) {
        UnetError ignored;
        char found[UNET_PATH_BYTES];
        if (pattern_path(found, dataset->folder, other, stem, &ignored) == UNET_OK &&
            access(found, F_OK) == 0) {
            memcpy(path, found, sizeof found);
            return true;
        }
    }
    return false;
}

UnetStatus dataset_path(const UnetDataset *dataset, const FileSeries *series, const Sample *sample,
                        char path[UNET_PATH_BYTES], UnetError *error) {
    if (series->column > 0) {
        return dataset_named_path(dataset, series, sample->stem, path, error);
    }
    const char *pattern = dataset_pattern(series, folder_of(dataset, sample->stem));
    const char *stem = dataset->stems.item[sample->stem];
    const UnetStatus status = pattern_path(path, dataset->folder, pattern, stem, error);
    int32_t f = 0;
    if (status == UNET_OK && other_case(series, pattern, &f) != NULL && access(path, F_OK) != 0) {
        (void)find_other_case(dataset, series, pattern, stem, path);
    }
    return status;
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

/* A pattern of a series. */
typedef struct {
    const FileSeries *series;
    const char *pattern;
} Side;

/* PATH with its ending in the other case: "a.jpg" as "a.JPG". */
static void swap_case(char path[UNET_PATH_BYTES]) {
    const char *slash = strrchr(path, '/');
    char *ending = strrchr(path, '.');
    for (char *c = ending != NULL && ending > slash ? ending : path + strlen(path); *c != '\0'; c++) {
        *c = (char)(islower((unsigned char)*c) ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    }
}

/* STEM has a file of PRESENT and none of ABSENT. */
static UnetStatus missing_partner(const UnetDataset *dataset, const char *stem, const Side *present,
                                  const Side *absent, Listener *listener, UnetError *error) {
    char path[UNET_PATH_BYTES], partner[UNET_PATH_BYTES], other[UNET_PATH_BYTES];
    UnetStatus status = pattern_path(path, dataset->folder, present->pattern, stem, error);
    if (status == UNET_OK) {
        status = pattern_path(partner, dataset->folder, absent->pattern, stem, error);
    }
    if (status != UNET_OK) {
        return status;
    }
    memcpy(other, partner, sizeof other);
    swap_case(other);
    int32_t f = 0;
    if (access(other, F_OK) == 0 && other_case(absent->series, absent->pattern, &f) == NULL) {
        char swapped[UNET_PATH_BYTES];
        (void)snprintf(swapped, sizeof swapped, "%s", absent->pattern);
        swap_case(swapped);
        status = unet_fail(error, UNET_IO,
                           "%.200s has no partner: \"%.100s\" asks for %.200s, and %.200s is there: "
                           "write [\"%.100s\", \"%.100s\"], and two patterns in the other source, too",
                           path, absent->pattern, partner, other, absent->pattern, swapped);
    } else {
        status = unet_fail(error, UNET_IO, "%.400s has no partner: \"%.100s\" asks for %.400s", path,
                           absent->pattern, partner);
    }
    return dataset_problem(listener, status, error);
}

/* STEM has a file of ONE and none of OTHER.  Is its partner written in another case?  It is not if ONE has
 * a file of that case, too: then the partner is that one's. */
static bool pairs_across_cases(const UnetDataset *dataset, const char *stem, const Side *one,
                               const Side *other) {
    char path[UNET_PATH_BYTES];
    return find_other_case(dataset, other->series, other->pattern, stem, path) &&
           !find_other_case(dataset, one->series, one->pattern, stem, path);
}

/* Two sorted lists, by merging; what only one has is a problem, and only the common stems stay in STEMS:
 * those of FIRST whose partner is of SECOND, or of that in another case. */
static UnetStatus keep_common(UnetDataset *dataset, StemList *stems, const Side *first, const Side *second,
                              const StemList *other, Listener *listener, UnetError *error) {
    int32_t i = 0, j = 0, kept = 0;
    UnetStatus status = UNET_OK;
    while (status == UNET_OK && (i < stems->count || j < other->count)) {
        const int order = i == stems->count   ? 1
                          : j == other->count ? -1
                                              : strcmp(stems->item[i], other->item[j]);
        const bool lone = order < 0;
        if (lone && !pairs_across_cases(dataset, stems->item[i], first, second)) {
            status = missing_partner(dataset, stems->item[i++], first, second, listener, error);
        } else if (order > 0) {
            if (!pairs_across_cases(dataset, other->item[j], second, first)) {
                status = missing_partner(dataset, other->item[j], second, first, listener, error);
            }
            j++;
        } else { /* swapped, so that the list still owns every stem once */
            char *common = stems->item[i];
            stems->item[i] = stems->item[kept];
            stems->item[kept++] = common;
            i++;
            j += !lone;
        }
    }
    while (status == UNET_OK && stems->count > kept) {
        free(stems->item[--stems->count]);
    }
    return status;
}

static UnetStatus expand(const UnetDataset *dataset, FileSeries *series, const char *pattern,
                         StemList *stems, UnetError *error) {
    int32_t f = 0;
    const bool both = other_case(series, pattern, &f) != NULL;
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
    Side first = {NULL, NULL};
    for (int32_t i = 0; i < dataset->nseries; i++) {
        const char *pattern = dataset_pattern(&dataset->series[i], folder);
        if (pattern == NULL) {
            return unet_fail(error, UNET_BUG, "the data sources name different numbers of folders");
        }
        if (pattern_stars(pattern) == 0) {
            continue;
        }
        if (first.pattern == NULL) {
            first = (Side){&dataset->series[i], pattern};
            UnetStatus status = expand(dataset, &dataset->series[i], pattern, stems, error);
            if (status != UNET_OK) {
                return status;
            }
            continue;
        }
        if (pattern_stars(pattern) != pattern_stars(first.pattern)) {
            return unet_fail(error, UNET_IO,
                             "the patterns \"%.200s\" and \"%.200s\" cannot be paired: %d and %d stars",
                             first.pattern, pattern, pattern_stars(first.pattern), pattern_stars(pattern));
        }
        StemList other = {0};
        UnetStatus status = expand(dataset, &dataset->series[i], pattern, &other, error);
        if (status == UNET_OK) {
            const Side second = {&dataset->series[i], pattern};
            status = keep_common(dataset, stems, &first, &second, &other, listener, error);
        }
        stems_free(&other);
        if (status != UNET_OK) {
            return status;
        }
    }
    if (first.pattern == NULL && dataset->nseries > 0) {
        return pattern_expand(dataset->folder, dataset_pattern(&dataset->series[0], folder), stems, error);
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
