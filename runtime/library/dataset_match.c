/* dataset_match.c - which files belong together: files for which the stars of all patterns stand for the
 * same text.  A pattern without stars names one file that belongs to every sample.  If sources name
 * several folders, the first pattern of one belongs to the first of another, and so on; a source of one
 * pattern serves all folders.  A file that the patterns of two sources take belongs to the one that says
 * more of its name: "*_mask.png" leaves nothing to "*.png".
 *
 * Requires: the series.  Provides: dataset->stems; FileSeries.word, the names of its files and of the
 * files left out.
 */
#include "dataset_parts.h"

#include <stdlib.h>
#include <string.h>

UnetStatus dataset_problem(Listener *listener, UnetStatus status, const UnetError *error) {
    if (listener == NULL) {
        return status;
    }
    listener->report(listener->context, error);
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

static int32_t count_patterns(const FileSeries *series) {
    int32_t count = 1;
    while (dataset_pattern(series, count) != NULL) {
        count++;
    }
    return count;
}

UnetStatus dataset_path(const UnetDataset *dataset, const FileSeries *series, const Sample *sample,
                        char path[UNET_PATH_BYTES], UnetError *error) {
    return pattern_plain_path(path, dataset->folder, series->word.item[sample->stem], error);
}

UnetStatus dataset_open_file(const UnetDataset *dataset, const Sample *sample, int32_t index,
                             UnetImageMemory *memory, UnetImageReader **reader, UnetError *error) {
    const FileSeries *series = &dataset->series[index];
    char path[UNET_PATH_BYTES];
    *reader = NULL;
    UnetStatus status = dataset_path(dataset, series, sample, path, error);
    if (status == UNET_OK) {
        status = unet_image_open_as(memory, &series->way, reader, path, series->channels, error);
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

/* ---- sides ------------------------------------------------------------------------------------ */

typedef struct {
    UnetDataset *dataset;
    Listener *listener;
    UnetError *error;
    FileSide *side; /* files of one series after files of another, */
    int32_t *first; /*   of series i from here on; one more behind the last */
    int32_t folders;
} Matching;

static UnetStatus out_of_memory(UnetError *error) {
    return unet_fail(error, UNET_TOO_SMALL, "out of memory while reading the names of files");
}

static bool make_sides(Matching *m) {
    const UnetDataset *dataset = m->dataset;
    m->folders = 1;
    m->first = calloc((size_t)dataset->nseries + 1, sizeof *m->first);
    if (m->first == NULL) {
        return false;
    }
    for (int32_t i = 0; i < dataset->nseries; i++) {
        const int32_t patterns = count_patterns(&dataset->series[i]);
        m->folders = patterns > m->folders ? patterns : m->folders;
        m->first[i + 1] = m->first[i] + patterns;
    }
    const int32_t sides = m->first[dataset->nseries];
    m->side = calloc((size_t)sides + 1, sizeof *m->side);
    for (int32_t i = 0; m->side != NULL && i < dataset->nseries; i++) {
        for (int32_t k = m->first[i]; k < m->first[i + 1]; k++) {
            const char *pattern = dataset_pattern(&dataset->series[i], k - m->first[i]);
            m->side[k] = (FileSide){
                .series = &dataset->series[i], .pattern = pattern, .stars = unet_pattern_stars(pattern)};
        }
    }
    return m->side != NULL;
}

static void free_sides(Matching *m) {
    for (int32_t k = 0; m->side != NULL && k < m->first[m->dataset->nseries]; k++) {
        found_free(&m->side[k].found);
        free(m->side[k].used);
        free(m->side[k].alike);
    }
    free(m->side);
    free(m->first);
}

/* Does another source have a pattern that takes NAME and says more of it? */
static bool is_of_other(const Matching *m, const FileSide *side, const char *name) {
    for (int32_t k = 0; k < m->first[m->dataset->nseries]; k++) {
        const FileSide *other = &m->side[k];
        if (other->series->source != side->series->source && other->stars > 0 &&
            pattern_letters(other->pattern) > pattern_letters(side->pattern) &&
            pattern_takes(other->pattern, name)) {
            return true;
        }
    }
    return false;
}

static UnetStatus leave_those_of_others(const Matching *m, FileSide *side) {
    for (int32_t i = 0; i < side->found.count; i++) {
        if (is_of_other(m, side, side->found.item[i].name)) {
            found_leave(&side->found, i, LEFT_OTHER);
        }
    }
    found_close_up(&side->found);
    return side->found.count > 0
               ? UNET_OK
               : unet_fail(
                     m->error, UNET_IO,
                     "%s: all files of \"%.200s\" are those of another source, whose pattern says more "
                     "of their names",
                     m->dataset->folder, side->pattern);
}

/* Two files of one stem cannot both be in its sample: the first by name stays. */
static UnetStatus leave_twins(const Matching *m, FileSide *side) {
    UnetStatus status = UNET_OK;
    int32_t first = 0;
    for (int32_t i = 1; i < side->found.count && status == UNET_OK; i++) {
        const FoundFile *one = &side->found.item[first], *other = &side->found.item[i];
        if (strcmp(one->stem, other->stem) != 0) {
            first = i;
            continue;
        }
        status =
            unet_fail(m->error, UNET_IO,
                      "%.400s and %.400s are both \"%.100s\" with the same `*`: give one of them another "
                      "name, take it out of the folder, or write a list of patterns where both are samples",
                      one->name, other->name, side->pattern);
        status = dataset_problem(m->listener, status, m->error);
        found_drop(&side->found, i);
    }
    found_close_up(&side->found);
    return status;
}

/* Counts a file that was left out of a pattern for its series. */
static void add_left(FileSide *side) {
    FileSeries *series = side->series;
    for (int reason = 0; reason < LEFT_REASONS; reason++) {
        if (side->found.left[reason] > 0 && series->left[reason] == 0) {
            memcpy(series->left_name[reason], side->found.left_name[reason],
                   sizeof series->left_name[reason]);
        }
        series->left[reason] += side->found.left[reason];
    }
    series->found += side->found.count;
}

static UnetStatus expand(const Matching *m, FileSide *side) {
    UnetStatus status = pattern_expand(m->dataset->folder, side->pattern, &side->found, m->error);
    if (status == UNET_OK) {
        status = leave_those_of_others(m, side);
    }
    if (status == UNET_OK) {
        status = leave_twins(m, side);
    }
    add_left(side);
    side->used = calloc((size_t)side->found.count + 1, sizeof *side->used);
    return status == UNET_OK && side->used == NULL ? out_of_memory(m->error) : status;
}

static UnetStatus expand_all(const Matching *m) {
    UnetStatus status = UNET_OK;
    for (int32_t k = 0; k < m->first[m->dataset->nseries] && status == UNET_OK; k++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each side has one */
        if (m->side[k].series->column == 0) {
            status = expand(m, &m->side[k]);
        }
    }
    return status;
}

/* ---- samples ---------------------------------------------------------------------------------- */

/* The side of SERIES in FOLDER. */
static FileSide *side_of(const Matching *m, int32_t series, int32_t folder) {
    const bool several = m->first[series + 1] - m->first[series] > 1;
    return &m->side[m->first[series] + (several ? folder : 0)];
}

/* The side of FOLDER whose files say which samples there are: the first with stars that has a pattern for
 * each folder; NULL: none has stars. */
static FileSide *leading_side(const Matching *m, int32_t folder) {
    FileSide *leads = NULL;
    for (int32_t i = m->dataset->nseries - 1; i >= 0; i--) {
        FileSide *side = side_of(m, i, folder);
        const bool own = m->first[i + 1] - m->first[i] == m->folders;
        leads = own && side->stars > 0 ? side : leads;
    }
    return leads;
}

/* The file of SIDE that belongs to STEM, or NULL. */
static const char *partner(FileSide *side, const char *stem) {
    const FoundFile *file = found_find(&side->found, side->stars > 0 ? stem : "");
    if (file == NULL) {
        return NULL;
    }
    side->used[file - side->found.item] = true;
    return file->name;
}

static UnetStatus missing(const Matching *m, const FileSide *present, const FoundFile *file,
                          FileSide *absent) {
    const UnetStatus status = dataset_missing_partner(m->dataset->folder, present, file, absent, m->error);
    return dataset_problem(m->listener, status, m->error);
}

/* Adds a sample, which has a file of every series, or a problem. */
static UnetStatus add_sample(const Matching *m, int32_t folder, const FileSide *leads,
                             const FoundFile *file) {
    UnetDataset *dataset = m->dataset;
    FileSide *absent = NULL;
    for (int32_t i = dataset->nseries - 1; i >= 0; i--) { /* all become used */
        FileSide *side = side_of(m, i, folder);
        absent = partner(side, file->stem) == NULL ? side : absent;
    }
    if (absent != NULL) {
        return missing(m, leads, file, absent);
    }
    bool added = stems_add(&dataset->stems, file->stem);
    for (int32_t i = 0; i < dataset->nseries && added; i++) {
        added = stems_add(&dataset->series[i].word, partner(side_of(m, i, folder), file->stem));
    }
    return added ? UNET_OK : out_of_memory(m->error);
}

static UnetStatus match_folder(const Matching *m, int32_t folder) {
    char none[] = "";
    const FoundFile alone = {.stem = none};
    const FileSide *leads = leading_side(m, folder);
    if (leads == NULL) {
        return add_sample(m, folder, side_of(m, 0, folder), &alone);
    }
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < leads->found.count && status == UNET_OK; i++) {
        status = add_sample(m, folder, leads, &leads->found.item[i]);
    }
    return status;
}

/* Files that belong to no sample. */
static UnetStatus report_unused(const Matching *m) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < m->dataset->nseries; i++) {
        for (int32_t k = m->first[i]; k < m->first[i + 1]; k++) {
            FileSide *side = &m->side[k], *leads = leading_side(m, k - m->first[i]);
            for (int32_t f = 0; leads != NULL && f < side->found.count && status == UNET_OK; f++) {
                if (!side->used[f]) {
                    status = missing(m, side, &side->found.item[f], leads);
                }
            }
        }
    }
    return status;
}

/* Lists say which samples there are; patterns, what their files are called. */
static UnetStatus name_listed(const Matching *m) {
    UnetDataset *dataset = m->dataset;
    UnetStatus status = dataset_read_lists(dataset, m->error);
    for (int32_t i = 0; i < dataset->nseries && status == UNET_OK; i++) {
        FileSide *side = side_of(m, i, 0);
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each side has one */
        for (int32_t s = 0; s < dataset->stems.count && side->series->column == 0 && status == UNET_OK;
             s++) {
            char path[UNET_PATH_BYTES];
            const char *stem = dataset->stems.item[s], *name = partner(side, stem);
            if (name == NULL) { /* opening it tells that it is not there */
                status = pattern_path(path, NULL, side->pattern, stem, m->error);
                name = path;
            }
            if (status == UNET_OK && !stems_add(&side->series->word, name)) {
                status = out_of_memory(m->error);
            }
        }
    }
    return status;
}

/* Patterns of one folder have as many stars, or none. */
static UnetStatus check_stars(const Matching *m, int32_t folder) {
    const FileSide *leads = leading_side(m, folder);
    for (int32_t i = 0; leads != NULL && i < m->dataset->nseries; i++) {
        const FileSide *side = side_of(m, i, folder);
        if (side->stars > 0 && side->stars != leads->stars) {
            return unet_fail(m->error, UNET_IO,
                             "the patterns \"%.200s\" and \"%.200s\" cannot be paired: %d and %d stars",
                             leads->pattern, side->pattern, leads->stars, side->stars);
        }
    }
    return UNET_OK;
}

/* Each series has one pattern, or one for each folder. */
static UnetStatus check_folders(const Matching *m) {
    for (int32_t i = 0; i < m->dataset->nseries; i++) {
        const int32_t patterns = m->first[i + 1] - m->first[i];
        if (patterns > 1 && patterns != m->folders) {
            return unet_fail(m->error, UNET_BUG, "the data sources name different numbers of folders");
        }
    }
    UnetStatus status = UNET_OK;
    for (int32_t folder = 0; folder < m->folders && status == UNET_OK; folder++) {
        status = check_stars(m, folder);
    }
    return status;
}

static UnetStatus match_all(Matching *m) {
    UnetDataset *dataset = m->dataset;
    UnetStatus status = dataset_is_listed(dataset) ? UNET_OK : check_folders(m);
    if (status == UNET_OK) {
        status = expand_all(m);
    }
    if (status != UNET_OK || dataset_is_listed(dataset)) {
        return status == UNET_OK ? name_listed(m) : status;
    }
    dataset->several_folders = m->folders > 1;
    for (int32_t folder = 0; folder < m->folders && status == UNET_OK; folder++) {
        status = match_folder(m, folder);
    }
    return status == UNET_OK ? report_unused(m) : status;
}

UnetStatus dataset_match(UnetDataset *dataset, Listener *listener, UnetError *error) {
    Matching m = {.dataset = dataset, .listener = listener, .error = error};
    const UnetStatus status = make_sides(&m) ? match_all(&m) : out_of_memory(error);
    free_sides(&m);
    return status;
}
