/* dataset_scale.c - sources whose files show the same picture with more or fewer points (super-resolution).
 *
 * One window is chosen in points of the coarsest files; every other file has a whole number of points, its
 * multiple, for each of these along each axis.  So a crop, a flip and a padding show the same part of the
 * picture in all files:
 *
 *     small    window of 8 x 8 at (y, x)             multiple 1
 *     large    window of 16 x 16 at (2 y, 2 x)       multiple 2
 *
 * The sizes in the model decide.  An input s times as large as the first is filled from files s times as
 * large.  One that is s times smaller is filled from files s times smaller, if they are that; from files as
 * large as the files of the first input it gets the centre of the window, as does an input of any smaller
 * size.
 *
 * Requires: sources and series; the stems of all files.  Provides: UnetDataset.scale, base, widest,
 * measured_multiple. */
#include "dataset_parts.h"

#include <stdlib.h>

/* How many times LARGE is SMALL, along both axes; 0: no whole number of times. */
static int32_t ratio(const int32_t large[2], const int32_t small[2]) {
    int32_t times = small[0] > 0 ? large[0] / small[0] : 0;
    bool whole = (int64_t)times * small[0] == large[0] && (int64_t)times * small[1] == large[1];
    return whole ? times : 0;
}

/* A series that source INDEX reads, itself or through the sources it names, all of them earlier; or -1. */
static int32_t find_series(const UnetDataset *dataset, int32_t index) {
    const UnetSource *source = &dataset->source[index];
    int32_t found = -1;
    for (int32_t t = 0; t < source->nterm && found < 0; t++) {
        if (source->term[t].op == UNET_SRC_FILES) {
            found = dataset->scale[index].first_series;
        } else if (source->term[t].op == UNET_SRC_NAME || dataset_is_border(dataset, index) ||
                   dataset_is_words(dataset, index)) {
            found = dataset->scale[dataset_source(dataset, index, source->term[t].pattern)].series;
        }
    }
    return found;
}

/* The size of the first file of a series; false: it cannot be read, which is reported later. */
static bool first_size(const UnetDataset *dataset, int32_t index, int32_t size[2]) {
    const FileSeries *series = &dataset->series[index];
    const Sample sample = {.stem = 0};
    char path[UNET_PATH_BYTES];
    UnetImageReader *reader;
    if (dataset->stems.count == 0 || dataset_path(dataset, series, &sample, path, NULL) != UNET_OK ||
        unet_image_open_as(NULL, &series->way, &reader, path, series->channels, NULL) != UNET_OK) {
        return false;
    }
    UnetImageInfo info = unet_image_info(reader);
    size[0] = info.height;
    size[1] = info.width;
    unet_image_close(reader);
    return true;
}

/* Whether the files of source INDEX are TIMES smaller than the files of the first input. */
static bool files_are_smaller(const UnetDataset *dataset, int32_t index, int32_t times) {
    int32_t first = -1, own = dataset->scale[index].series, large[2], small[2];
    for (int32_t s = 0; s < dataset->nsource; s++) {
        first = dataset->source[s].input == 0 ? dataset->scale[s].series : first;
    }
    return first >= 0 && own >= 0 && first != own && first_size(dataset, first, large) &&
           first_size(dataset, own, small) && ratio(large, small) == times;
}

/* Returns the scale that an input asks of its source. */
static SourceScale scale_of_input(const UnetDataset *dataset, int32_t index) {
    const int32_t *window = dataset->program->size + 1;
    const int32_t *size = dataset->program->inputs[dataset->source[index].input].size + 1;
    SourceScale scale = dataset->scale[index];
    int32_t larger = ratio(size, window), smaller = ratio(window, size);
    scale.times = larger > 1 ? larger : 1;
    scale.divisor = smaller > 1 && files_are_smaller(dataset, index, smaller) ? smaller : 1;
    return scale;
}

static bool suits_any_size(const UnetDataset *dataset, int32_t index) {
    return dataset->source[index].input < 0 && dataset->scale[index].series < 0;
}

/* Sources that source INDEX names are read point by point with it; those without files suit any size. */
static UnetStatus pass_on(UnetDataset *dataset, int32_t index, UnetError *error) {
    const UnetSource *source = &dataset->source[index];
    const SourceScale *own = &dataset->scale[index];
    for (int32_t t = 0; t < source->nterm; t++) {
        if (source->term[t].op != UNET_SRC_NAME) {
            continue;
        }
        int32_t earlier = dataset_source(dataset, index, source->term[t].pattern);
        SourceScale *named = &dataset->scale[earlier];
        if (suits_any_size(dataset, earlier)) {
            continue;
        }
        if (named->times > 0 && (named->times != own->times || named->divisor != own->divisor)) {
            return unet_fail(error, UNET_IO,
                             "line %d: \"%.100s\" is read into inputs of different sizes; give each its "
                             "own files",
                             (int)source->term[t].line, source->term[t].pattern);
        }
        named->times = own->times;
        named->divisor = own->divisor;
    }
    return UNET_OK;
}

static int32_t common_divisor(int32_t a, int32_t b) {
    return b == 0 ? a : common_divisor(b, a % b);
}

/* Every divisor divides both sizes of the window, and so does their least common multiple. */
static void set_multiples(UnetDataset *dataset) {
    const int32_t *window = dataset->program->size + 1;
    int32_t first = 1, max = 1; /* multiples of the first input, and of the finest files */
    for (int32_t s = 0; s < dataset->nsource; s++) {
        int32_t divisor = dataset->scale[s].divisor;
        if (divisor > 1)
            first = first / common_divisor(first, divisor) * divisor;
    }
    for (int32_t s = 0; s < dataset->nsource; s++) {
        SourceScale *scale = &dataset->scale[s];
        scale->multiple = suits_any_size(dataset, s) ? ANY_MULTIPLE : first / scale->divisor * scale->times;
        max = scale->multiple > max ? scale->multiple : max;
    }
    dataset->measured_multiple = first;
    for (int axis = 0; axis < 2; axis++) {
        dataset->base[axis] = window[axis] / (first > 0 ? first : 1);
        dataset->widest[axis] = dataset->base[axis] * max;
    }
    dataset->base[2] = dataset->program->size[0];
}

/* Losses are measured where their target is, else where their size says. */
static void set_measured_multiple(UnetDataset *dataset) {
    const int32_t *window = dataset->program->size + 1, *measured = dataset->program->measured + 1;
    if (measured[0] > 0 && ratio(measured, window) > 1) {
        dataset->measured_multiple *= ratio(measured, window);
    }
    for (int32_t s = 0; measured[0] > 0 && s < dataset->nsource; s++) {
        int32_t input = dataset->source[s].input;
        if (input >= 0 && dataset->model->inputs[input].is_target &&
            ratio(dataset->program->inputs[input].size + 1, measured) == 1) {
            dataset->measured_multiple = dataset->scale[s].multiple;
        }
    }
}

UnetStatus dataset_scale(UnetDataset *dataset, UnetError *error) {
    for (int32_t s = 0; s < dataset->nsource; s++) {
        dataset->scale[s].series = find_series(dataset, s);
    }
    for (int32_t s = dataset->nsource - 1; s >= 0; s--) {
        if (dataset->source[s].input >= 0) {
            dataset->scale[s] = scale_of_input(dataset, s);
        }
    }
    for (int32_t s = dataset->nsource - 1; s >= 0; s--) {
        if (dataset->scale[s].times == 0) { /* nobody reads it */
            dataset->scale[s].times = dataset->scale[s].divisor = 1;
        }
        UnetStatus status = pass_on(dataset, s, error);
        if (status != UNET_OK) {
            return status;
        }
    }
    set_multiples(dataset);
    set_measured_multiple(dataset);
    return UNET_OK;
}

int32_t dataset_valid(const UnetDataset *dataset, int axis, int32_t shown) {
    int32_t measured = dataset->program->measured[(axis + 1) % 3];
    if (measured == 0 || (axis == 2 && !dataset->volumes)) {
        return measured;
    }
    int32_t whole = dataset->base[axis] * dataset->measured_multiple;
    int32_t valid = shown * dataset->measured_multiple - (whole - measured) / 2;
    return valid < measured ? valid : measured;
}
