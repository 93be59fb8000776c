/* dataset_list.c - samples that stand in a text file, one a line: the names of their files, or the
 * text that the stars of the patterns stand for.
 *
 * Words are separated by blanks; empty lines and lines that begin with `#` say nothing.  Lines may end as
 * on Windows, and a mark of UTF-8 may stand in front of the first.  Samples keep the order of the lines.
 *
 * Requires: the series.  Provides: UnetDataset.stems, the first word of each line; FileSeries.word. */
#include "dataset_parts.h"
#include "unet/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 2 * UNET_PATH_BYTES };

/* A list on its way into STEMS and, of word COLUMN (0: none), into WORDS. */
typedef struct {
    const char *path;
    StemList *stems, *words;
    int32_t column;
    int32_t stars; /* of the pattern that the first word fills; -1: it is no stem */
    UnetError *error;
} Reading;

static UnetStatus out_of_memory(const Reading *r) {
    return unet_fail(r->error, UNET_TOO_SMALL, "%s: out of memory", r->path);
}

/* The stem of two stars is "scene/03". */
static UnetStatus check_stem(const Reading *r, int32_t line, const char *stem) {
    int32_t parts = 1;
    for (const char *c = stem; *c != '\0'; c++) {
        parts += *c == '/';
    }
    if (r->stars < 0 || parts == r->stars) {
        return UNET_OK;
    }
    return unet_fail(
        r->error, UNET_IO,
        "%s:%d: \"%.200s\" must stand for the %d `*` of the pattern: write one word, with %d `/`", r->path,
        line, stem, r->stars, r->stars - 1);
}

static UnetStatus take_line(const Reading *r, int32_t number, char *line) {
    static const char blanks[] = " \t\r\n";
    char *place, *word = strtok_r(line, blanks, &place);
    int32_t column = 1;
    if (word == NULL || *word == '#') {
        return UNET_OK;
    }
    UnetStatus status = check_stem(r, number, word);
    if (status != UNET_OK) {
        return status;
    }
    if (r->stems != NULL && !stems_add(r->stems, word)) {
        return out_of_memory(r);
    }
    for (; column < r->column && word != NULL; column++) {
        word = strtok_r(NULL, blanks, &place);
    }
    if (word == NULL) {
        return unet_fail(r->error, UNET_IO, "%s:%d: has fewer than %d words, and word %d names a file",
                         r->path, number, r->column, r->column);
    }
    return r->words == NULL || stems_add(r->words, word) ? UNET_OK : out_of_memory(r);
}

static UnetStatus read_lines(const Reading *r, FILE *file) {
    char line[LINE_BYTES];
    UnetStatus status = UNET_OK;
    for (int32_t number = 1; status == UNET_OK && fgets(line, sizeof line, file) != NULL; number++) {
        if (strlen(line) == sizeof line - 1 && line[sizeof line - 2] != '\n') {
            return unet_fail(r->error, UNET_IO, "%s:%d: the line is too long", r->path, number);
        }
        status = take_line(r, number, line + (number == 1 ? unet_bom_length(line) : 0));
    }
    if (status == UNET_OK && ferror(file)) {
        return unet_fail(r->error, UNET_IO, "%s: cannot read: %s", r->path, strerror(errno));
    }
    return status;
}

static UnetStatus read_list(const UnetDataset *dataset, const char *name, Reading r) {
    const int32_t before = r.stems != NULL ? r.stems->count : r.words->count;
    char path[UNET_PATH_BYTES];
    UnetStatus status = pattern_plain_path(path, dataset->folder, name, r.error);
    if (status != UNET_OK) {
        return status;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return unet_fail(r.error, UNET_IO, "%s: cannot read the list: %s", path, strerror(errno));
    }
    r.path = path;
    status = read_lines(&r, file);
    (void)fclose(file);
    const int32_t count = r.stems != NULL ? r.stems->count : r.words->count;
    if (status == UNET_OK && count == before) {
        return unet_fail(r.error, UNET_IO, "%s: lists no samples", path);
    }
    return status;
}

/* The files of SERIES have the names that its lists give them, one list after another. */
static UnetStatus read_names(UnetDataset *dataset, FileSeries *series, UnetError *error) {
    const bool first = dataset->stems.count == 0;
    const Reading r = {.stems = first ? &dataset->stems : NULL,
                       .words = &series->word,
                       .column = series->column,
                       .stars = -1,
                       .error = error};
    UnetStatus status = UNET_OK;
    const char *list = series->pattern;
    for (int32_t i = 0; status == UNET_OK && list != NULL; list = dataset_pattern(series, ++i)) {
        status = read_list(dataset, list, r);
    }
    if (status == UNET_OK && series->word.count != dataset->stems.count) {
        return unet_fail(
            error, UNET_IO,
            "\"%.200s\" lists %d sample%s, and the list before it %d: lines of two lists belong together",
            series->pattern, series->word.count, unet_plural(series->word.count), dataset->stems.count);
    }
    return status;
}

bool dataset_is_listed(const UnetDataset *dataset) {
    for (int32_t i = 0; i < dataset->nseries; i++) {
        if (dataset->series[i].column > 0 || dataset->series[i].list != NULL) {
            return true;
        }
    }
    return false;
}

UnetStatus dataset_read_lists(UnetDataset *dataset, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < dataset->nseries && status == UNET_OK; i++) {
        FileSeries *series = &dataset->series[i];
        if (series->column > 0) {
            status = read_names(dataset, series, error);
        } else if (series->list != NULL && dataset->stems.count == 0) {
            const Reading r = {
                .stems = &dataset->stems, .stars = unet_pattern_stars(series->pattern), .error = error};
            status = read_list(dataset, series->list, r);
        }
    }
    return status;
}
