/* dataset_labels.c - classes out of the numbers in files.
 *
 * Requires: the sources.  Provides: for each that fills labels a table from the numbers in its files to
 * classes; a number that is none is an error with the name of its file.
 */
#include "dataset_parts.h"
#include "unet/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = UINT16_MAX + 1, NO_CLASS = UINT16_MAX };

/* Numbers of files of floats that are as near to a whole one are that. */
static const float near_whole = 1e-3f;

static const UnetInput *labels_of(const UnetDataset *dataset, int32_t source) {
    const int32_t input = dataset->source[source].input;
    const bool labels = input >= 0 && dataset->model->inputs[input].kind == UNET_LABELS;
    return labels ? &dataset->model->inputs[input] : NULL;
}

bool dataset_is_labels(const UnetDataset *dataset, int32_t source) {
    return labels_of(dataset, source) != NULL;
}

/* The numbers in files of class K, as far as -1 behind them; OWN has room where that is its own. */
static const int32_t *numbers_of(const UnetSource *source, int32_t k, int32_t own[2]) {
    own[0] = k;
    own[1] = -1;
    const int32_t *value = source->values;
    for (int32_t left = k; value != NULL && left > 0; value++) {
        left -= *value < 0;
    }
    return value != NULL ? value : own;
}

bool dataset_make_classes(UnetDataset *dataset) {
    dataset->class_of = calloc((size_t)dataset->nsource, sizeof *dataset->class_of);
    for (int32_t s = 0; dataset->class_of != NULL && s < dataset->nsource; s++) {
        const UnetInput *labels = labels_of(dataset, s);
        if (labels == NULL || dataset->source[s].colours) {
            continue;
        }
        uint16_t *table = malloc(NUMBERS * sizeof *table);
        dataset->class_of[s] = table;
        if (table == NULL) {
            return false;
        }
        for (int32_t i = 0; i < NUMBERS; i++) {
            table[i] = dataset->source[s].ignores_others ? UNET_IGNORED : NO_CLASS;
        }
        for (int32_t k = 0; k < labels->classes; k++) {
            int32_t own[2];
            for (const int32_t *n = numbers_of(&dataset->source[s], k, own); *n >= 0; n++) {
                table[*n] = (uint16_t)k;
            }
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

static UnetStatus no_colour(const char *path, const UnetInput *labels, float value, UnetError *error) {
    char text[COLOUR_TEXT_BYTES];
    return unet_fail(error, UNET_IO,
                     "%.700s has a point of colour %s, which is not among the `colours` of \"%.100s\"; "
                     "`check-data` lists those that occur, and `others = \"ignore\"` says that such points "
                     "count nowhere",
                     path, dataset_colour_text((int32_t)value, text), labels->name);
}

static int by_number(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

enum { LISTED = 16 };

/* The numbers in the picture at PATH, "0, 128, 255", in *COUNT; false: they are more than may be classes,
 * or cannot be read. */
static bool list_numbers(const char *path, char text[LISTED * 8], int32_t *count) {
    ColourCount *numbers = calloc(1, sizeof *numbers);
    if (numbers == NULL) {
        return false;
    }
    dataset_count_colours(numbers, path, UNET_IMAGE_CLASSES);
    qsort(numbers->colour, (size_t)numbers->colours, sizeof *numbers->colour, by_number);
    *count = numbers->colours;
    const bool listed = !numbers->more && *count > 0 && *count <= LISTED;
    int n = 0;
    for (int32_t i = 0; listed && i < *count; i++) {
        n +=
            snprintf(text + n, LISTED * 8 - (size_t)n, "%s%" PRId32, i > 0 ? ", " : "", numbers->colour[i]);
    }
    free(numbers);
    return listed;
}

/* The error names the numbers that occur, and the line to write. */
static UnetStatus no_number(const UnetDataset *dataset, const FileSeries *files, const char *path,
                            int32_t number, UnetError *error) {
    const UnetSource *source = &dataset->source[files->source];
    const UnetInput *labels = labels_of(dataset, files->source);
    char numbers[LISTED * 8];
    int32_t count;
    if (dataset->volumes || !list_numbers(path, numbers, &count)) {
        return unet_fail(error, UNET_IO,
                         "%.900s has a point of value %" PRId32
                         ", and \"%.100s\" has the classes 0 to %" PRId32
                         "; `values = [...]` says which values mean which class, `ignore = %" PRId32
                         "` that such points count nowhere",
                         path, number, labels->name, labels->classes - 1, number);
    }
    return unet_fail(error, UNET_IO,
                     "%.900s has a point of value %" PRId32 ", and \"%.100s\" has the classes 0 to %" PRId32
                     "; the values that occur are %s: write `%.100s = labels(\"%.200s\", values = [%s])` "
                     "on line %" PRId32 " of %.200s%s",
                     path, number, labels->name, labels->classes - 1, numbers, source->name,
                     source->term[0].pattern, numbers, source->term[0].line, dataset->model->source,
                     count == labels->classes ? ""
                                              : ", with the value of each class; `ignore` in its "
                                                "declaration names a value that counts nowhere");
}

static bool may_be_class(float value) {
    return value >= 0 && value < NUMBERS && value == floorf(value);
}

static UnetStatus no_class(const UnetDataset *dataset, const Sample *sample, const FileSeries *series,
                           float value, UnetError *error) {
    char path[UNET_PATH_BYTES];
    const UnetInput *labels = labels_of(dataset, series->source);
    UnetStatus status = dataset_path(dataset, series, sample, path, error);
    if (status != UNET_OK) {
        return status;
    }
    if (dataset->source[series->source].colours) {
        return no_colour(path, labels, value, error);
    }
    if (!may_be_class(value)) {
        return unet_fail(error, UNET_IO,
                         "%.700s has a point of value %g, and classes are whole numbers from 0 to %d; "
                         "`round = true` in `labels(...)` takes the nearest",
                         path, (double)value, NUMBERS - 1);
    }
    const int32_t number = (int32_t)value;
    if (dataset->source[series->source].values != NULL) {
        return unet_fail(error, UNET_IO,
                         "%.900s has a point of value %" PRId32
                         ", which is not among the `values` of \"%.100s\"; "
                         "`others = \"ignore\"` says that such points count nowhere",
                         path, number, labels->name);
    }
    return no_number(dataset, series, path, number, error);
}

/* Neighbours are mostly of one colour. */
static UnetStatus colours_to_classes(const UnetDataset *dataset, const Sample *sample,
                                     const FileSeries *files, float *row, int32_t count, UnetError *error) {
    const UnetSource *source = &dataset->source[files->source];
    const int32_t classes = labels_of(dataset, files->source)->classes;
    float last = -1, class = 0;
    for (int32_t x = 0; x < count; x++) {
        const float colour = row[x];
        if (colour != last) {
            const int32_t k = dataset_class_of_colour(source, classes, (int32_t)colour);
            if (k < 0 && !source->ignores_others) {
                return no_class(dataset, sample, files, colour, error);
            }
            class = k < 0 ? UNET_IGNORED : (float)k;
            last = colour;
        }
        row[x] = class;
    }
    return UNET_OK;
}

UnetStatus dataset_to_classes(const UnetDataset *dataset, const Sample *sample, int32_t series, float *row,
                              int32_t count, UnetError *error) {
    const FileSeries *files = &dataset->series[series];
    const uint16_t *class_of = dataset->class_of[files->source];
    if (class_of == NULL) {
        return colours_to_classes(dataset, sample, files, row, count, error);
    }
    const bool rounds = dataset->source[files->source].rounds;
    for (int32_t x = 0; x < count; x++) {
        const float whole = rintf(row[x]);
        const float value = rounds || fabsf(row[x] - whole) <= near_whole ? whole : row[x];
        if (!may_be_class(value) || class_of[(int32_t)value] == NO_CLASS) {
            return no_class(dataset, sample, files, row[x], error);
        }
        row[x] = class_of[(int32_t)value];
    }
    return UNET_OK;
}

/* ---- what check-data says --------------------------------------------------------------------- */

void dataset_count_classes(LabelCount *file, const float *row, int32_t width) {
    for (int32_t x = 0; x < width; x++) {
        file->points[(int32_t)row[x]]++;
    }
}

void dataset_count_file(LabelCount *count, const LabelCount *file, const int32_t size[3]) {
    for (int axis = 0; axis < 3; axis++) {
        const bool smaller = count->files == 0 || size[axis] < count->least[axis];
        count->least[axis] = smaller ? size[axis] : count->least[axis];
        count->most[axis] = size[axis] > count->most[axis] ? size[axis] : count->most[axis];
    }
    for (int32_t k = 0; k <= UNET_IGNORED; k++) {
        count->points[k] += file->points[k];
        count->files_with[k] += file->points[k] > 0;
    }
    count->files++;
}

enum { LINE_BYTES = 4096 };

typedef struct {
    char text[LINE_BYTES];
    size_t length;
    UnetNote *note;
    void *context;
} Lines;

__attribute__((format(printf, 2, 3))) static void add(Lines *lines, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(lines->text + lines->length, LINE_BYTES - lines->length, format, arguments);
    va_end(arguments);
    lines->length += n > 0 ? (size_t)n : 0;
    if (lines->length >= LINE_BYTES) {
        lines->length = LINE_BYTES - 1;
    }
}

static void end_line(Lines *lines) {
    lines->note(lines->context, lines->text);
    lines->length = 0;
    lines->text[0] = '\0';
}

static void describe_size(Lines *lines, const int32_t size[3]) {
    if (size[2] > 1) {
        add(lines, "%" PRId32 " x ", size[2]);
    }
    add(lines, "%" PRId32 " x %" PRId32, size[0], size[1]);
}

static void describe_sizes(Lines *lines, const UnetInput *labels, const LabelCount *count) {
    add(lines, "%.100s: %" PRId64 " file%s of ", labels->name, count->files, unet_plural(count->files));
    describe_size(lines, count->least);
    if (memcmp(count->least, count->most, sizeof count->least) != 0) {
        add(lines, " to ");
        describe_size(lines, count->most);
    }
    end_line(lines);
}

static void describe_points(Lines *lines, const LabelCount *count, int32_t k, int64_t all) {
    add(lines, "%12" PRId64 " points %6.2f %% in %" PRId64 " file%s", count->points[k],
        100 * (double)count->points[k] / (double)all, count->files_with[k],
        unet_plural(count->files_with[k]));
    end_line(lines);
}

/* "  class 1 (value 255)" */
static void describe_class(Lines *lines, const UnetSource *source, int32_t k) {
    int32_t own[2];
    const int32_t *number = numbers_of(source, k, own);
    char text[COLOUR_TEXT_BYTES];
    add(lines, "  class %" PRId32 " (%s%s ", k, source->colours ? "colour" : "value",
        number[1] < 0 ? "" : "s");
    for (const int32_t *n = number; *n >= 0; n++) {
        if (source->colours) {
            add(lines, "%s%s", n > number ? ", " : "", dataset_colour_text(*n, text));
        } else {
            add(lines, "%s%" PRId32, n > number ? ", " : "", *n);
        }
    }
    add(lines, ")");
}

/* Points of all classes / (classes * points of one); a class that is never seen counts as it is. */
static void describe_weights(Lines *lines, const LabelCount *count, int32_t classes) {
    int64_t counted = 0;
    int32_t seen = 0;
    for (int32_t k = 0; k < classes; k++) {
        counted += count->points[k];
        seen += count->points[k] > 0;
    }
    add(lines, "  for classes that count alike: weight = [");
    for (int32_t k = 0; k < classes; k++) {
        const double share = (double)count->points[k] * seen;
        add(lines, "%s%.4g", k > 0 ? ", " : "", count->points[k] > 0 ? (double)counted / share : 1);
    }
    add(lines, "]");
    end_line(lines);
}

void dataset_describe_classes(const UnetDataset *dataset, int32_t source, const LabelCount *count,
                              UnetNote *note, void *context) {
    const UnetInput *labels = labels_of(dataset, source);
    Lines lines = {.note = note, .context = context};
    int64_t all = 0;
    for (int32_t k = 0; k <= UNET_IGNORED; k++) {
        all += count->points[k];
    }
    describe_sizes(&lines, labels, count);
    for (int32_t k = 0; k < labels->classes; k++) {
        describe_class(&lines, &dataset->source[source], k);
        if (count->points[k] > 0) {
            describe_points(&lines, count, k, all);
        } else {
            add(&lines, " is never seen");
            end_line(&lines);
        }
    }
    if (count->points[UNET_IGNORED] > 0) {
        add(&lines, "  ignored (value %" PRId32 ")", labels->ignore);
        describe_points(&lines, count, UNET_IGNORED, all);
    }
    if (labels->classes > 1 && count->points[UNET_IGNORED] < all) {
        describe_weights(&lines, count, labels->classes);
    }
}
