/* dataset_volume.c - samples of volumes.
 *
 * All voxels of a sample lie in memory, as the files into which they were decoded, so any row can be read
 * at once: a window is filled row by row, each from where it shows the volume.  The files of a sample must
 * show the same place: as many voxels, and the same grid.
 */
#include "dataset_reading.h"
#include "unet/layout.h"
#include "unet/normal.h"
#include "unet/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_SLOPE = 112 }; /* where a header has its slope, and its intercept behind that */

/* Labels that are as near to a whole number are that number: files that were saved through a slope. */
static const double near_whole = 1e-3;

bool dataset_pushes(const UnetSourceTerm *term) {
    return term->channel == 0;
}

/* ---- opening ---------------------------------------------------------------------------------- */

void dataset_close_volumes(UnetDataset *dataset, Sample *sample) {
    for (int32_t i = 0; sample->volume != NULL && i < dataset->nseries; i++) {
        unet_voxels_close(&sample->volume[i]);
    }
    free(sample->volume);
    free(sample->each);
    sample->volume = NULL;
    sample->each = NULL;
}

/* "160 x 192 x 224" */
static const char *size_text(const int32_t size[3], char text[48]) {
    (void)snprintf(text, 48, "%" PRId32 " x %" PRId32 " x %" PRId32, size[2], size[0], size[1]);
    return text;
}

/* Whether a volume of the sample's size can fill the window. */
static UnetStatus check_size(const UnetDataset *dataset, const Sample *sample, const char *path,
                             UnetError *error) {
    const UnetTransform *crop = window_crop(dataset->transform, dataset->ntransform);
    const bool training = dataset->purpose == UNET_TRAINING;
    bool smaller = false, larger = false, measured = true;
    char size[48], window[48];
    for (int axis = 0; axis < WINDOW_AXES; axis++) {
        smaller |= sample->size[axis] < dataset->base[axis];
        larger |= sample->size[axis] > dataset->base[axis];
        measured &= dataset_valid(dataset, axis, sample->size[axis]) > 0;
    }
    (void)size_text(sample->size, size);
    (void)size_text(dataset->base, window);
    if (crop == NULL && (larger || (smaller && training))) {
        return unet_fail(error, UNET_IO, "%s is %s voxels, and without `crop` it must be %s (depth first)",
                         path, size, window);
    }
    if (smaller && !training && !measured) {
        return unet_fail(error, UNET_IO,
                         "%s is %s voxels, too small for the losses and metrics of this model", path, size);
    }
    return UNET_OK;
}

/* Every file of a sample lies where the first does. */
static UnetStatus check_grid(const Sample *sample, int32_t i, const char *path, const char *first,
                             UnetError *error) {
    char why[200];
    if (unet_volume_same_grid(&sample->volume[0].info, &sample->volume[i].info, why)) {
        return UNET_OK;
    }
    return unet_fail(error, UNET_IO, "%.300s does not lie where its partner %.300s does: %s", path, first,
                     why);
}

/* A voxel of labels that is no whole number, and what may have made it so. */
static UnetStatus no_whole_number(const UnetVoxels *volume, const char *path, UnetError *error) {
    const UnetVoxelFacts *facts = &volume->facts;
    float slope, intercept;
    char scaled[80] = "";
    memcpy(&slope, volume->info.header + HEADER_SLOPE, sizeof slope);
    memcpy(&intercept, volume->info.header + HEADER_SLOPE + sizeof slope, sizeof intercept);
    if (isfinite(slope) && slope != 0 && (slope != 1 || intercept != 0)) {
        (void)snprintf(scaled, sizeof scaled, ", by the slope %g and intercept %g of its header",
                       (double)slope, (double)intercept);
    }
    return unet_fail(
        error, UNET_IO,
        "%.600s: voxel (%" PRId32 ", %" PRId32 ", %" PRId32
        ") (x, y, z) is %g%s, and classes are whole numbers; `round = true` in `labels(...)` takes "
        "the nearest",
        path, facts->odd_at[2], facts->odd_at[1], facts->odd_at[0], facts->odd_value, scaled);
}

/* All numbers of a file of labels must be classes. */
static UnetStatus check_classes(const UnetDataset *dataset, const Sample *sample, int32_t i,
                                const char *path, UnetError *error) {
    const UnetVoxels *volume = &sample->volume[i];
    UnetStatus status = UNET_OK;
    if (!dataset_is_labels(dataset, dataset->series[i].source)) {
        return UNET_OK;
    }
    if (volume->facts.odd > 0) {
        return no_whole_number(volume, path, error);
    }
    if (volume->facts.nvalue == 0) {
        return unet_fail(error, UNET_IO,
                         "%s holds no classes: its voxels go from %g to %g, and classes are at most %d "
                         "whole numbers from 0 on",
                         path, (double)volume->facts.least, (double)volume->facts.most, UNET_MOST_VALUES);
    }
    for (int32_t k = 0; k < volume->facts.nvalue && status == UNET_OK; k++) {
        float value = (float)volume->value[k];
        status = dataset_to_classes(dataset, sample, i, &value, 1, error);
    }
    return status;
}

UnetSampling dataset_sampling(const UnetDataset *dataset, int32_t series) {
    const double *spacing = dataset->model->spacing;
    const int32_t source = dataset->series[series].source;
    return (UnetSampling){.spacing = {spacing[0], spacing[1], spacing[2]},
                          .how = dataset_is_labels(dataset, source) ? UNET_NEAREST
                                 : dataset->model->cubic            ? UNET_CUBIC
                                                                    : UNET_LINEAR,
                          .whole = !dataset_is_labels(dataset, source) ? 0
                                   : dataset->source[source].rounds    ? 0.5
                                                                       : near_whole,
                          .masked = dataset_is_masked(dataset, source)};
}

static UnetStatus open_volume(UnetDataset *dataset, Sample *sample, int32_t i, char path[UNET_PATH_BYTES],
                              UnetError *error) {
    UnetVoxels *volume = &sample->volume[i];
    const UnetSampling sampling = dataset_sampling(dataset, i);
    UnetStatus status = dataset_path(dataset, &dataset->series[i], sample, path, error);
    if (status == UNET_OK) {
        status = unet_voxels_open(volume, path, dataset->cache_folder, &sampling, error);
    }
    dataset->series[i].strange += volume->facts.strange;
    dataset->series[i].rounded += volume->facts.rounded;
    return status;
}

/* Places the sample: all of it, or the box of all voxels that are not 0 in some input. */
static void place_sample(const UnetDataset *dataset, Sample *sample) {
    const int32_t *size = sample->volume[0].info.size;
    int32_t begin[3] = {size[0], size[1], size[2]}, end[3] = {0, 0, 0};
    for (int32_t s = 0; s < dataset->nsource; s++) {
        const int32_t input = dataset->source[s].input;
        int32_t from[3], to[3];
        if (input < 0 || dataset->model->inputs[input].is_target || !dataset->model->trims ||
            !dataset->source[s].term[0].volumes) {
            continue;
        }
        unet_voxels_box(&sample->volume[dataset->scale[s].first_series], dataset->source[s].channels, from,
                        to);
        for (int axis = 0; axis < 3; axis++) {
            begin[axis] = from[axis] < begin[axis] ? from[axis] : begin[axis];
            end[axis] = to[axis] > end[axis] ? to[axis] : end[axis];
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        const int of = (axis + 2) % 3; /* z is the last of height, width, depth */
        const bool trims = end[axis] > 0;
        sample->origin[of] = trims ? begin[axis] : 0;
        sample->size[of] = trims ? end[axis] - begin[axis] : size[axis];
    }
}

/* Finds the numbers that normalise each source whose volumes have their own. */
static void find_normals(const UnetDataset *dataset, const Sample *sample) {
    for (int32_t s = 0; s < dataset->nsource; s++) {
        const int32_t input = dataset->source[s].input;
        const UnetNormalizing how = input >= 0 ? dataset->model->inputs[input].normalizing : UNET_AS_READ;
        if (unet_normal_is_each(how)) {
            unet_voxels_normal(&sample->volume[dataset->scale[s].first_series], dataset->source[s].channels,
                               &sample->each[s]);
        }
    }
}

UnetStatus dataset_probe_volumes(UnetDataset *dataset, Sample *sample, UnetError *error) {
    char path[UNET_PATH_BYTES], first[UNET_PATH_BYTES];
    UnetStatus status = UNET_OK;
    sample->volume = calloc((size_t)dataset->nseries, sizeof *sample->volume);
    sample->each = calloc((size_t)dataset->nsource, sizeof *sample->each);
    if (sample->volume == NULL || sample->each == NULL) {
        dataset_close_volumes(dataset, sample);
        return unet_fail(error, UNET_TOO_SMALL, "out of memory while opening volumes");
    }
    for (int32_t i = 0; i < dataset->nseries && status == UNET_OK; i++) {
        char *name = i == 0 ? first : path;
        status = open_volume(dataset, sample, i, name, error);
        if (status == UNET_OK && i > 0) {
            status = check_grid(sample, i, name, first, error);
        }
        if (status == UNET_OK) {
            status = check_classes(dataset, sample, i, name, error);
        }
    }
    if (status == UNET_OK) {
        place_sample(dataset, sample);
        find_normals(dataset, sample);
        status = check_size(dataset, sample, first, error);
    }
    if (status != UNET_OK) {
        dataset_close_volumes(dataset, sample);
    }
    return status;
}

/* ---- foreground ------------------------------------------------------------------------------- */

int32_t dataset_series_of_labels(const UnetDataset *dataset) {
    for (int32_t i = 0; i < dataset->nseries; i++) {
        if (dataset_is_labels(dataset, dataset->series[i].source)) {
            return i;
        }
    }
    return -1;
}

static bool is_foreground(const UnetDataset *dataset, int32_t series, int32_t value) {
    const uint16_t class = dataset->class_of[dataset->series[series].source][value];
    return class > 0 && class < UNET_IGNORED;
}

enum { PART = 256 }; /* voxels that are looked at together */

/* Finds voxel NUMBER of the voxels of VALUE, counted slice by slice. */
static bool find_voxel(const UnetVoxels *volume, int32_t k, int64_t number, int32_t voxel[3]) {
    const int32_t *size = volume->info.size;
    const uint32_t *count = volume->count + (size_t)k * (size_t)size[0];
    int32_t z = 0;
    while (z < size[0] && number >= count[z]) {
        number -= count[z++];
    }
    for (int32_t y = 0; z < size[0] && y < size[1]; y++) {
        float part[PART];
        for (int32_t x = 0; x < size[2]; x++) {
            if (x % PART == 0) {
                unet_voxels_row(volume, z, y, x, size[2] - x < PART ? size[2] - x : PART, part);
            }
            if (part[x % PART] == (float)volume->value[k] && number-- == 0) {
                memcpy(voxel, (const int32_t[]){y, x, z}, 3 * sizeof *voxel);
                return true;
            }
        }
    }
    return false;
}

/* Which values of a volume of labels are of a class above 0; returns how many. */
static int32_t foreground_values(const UnetDataset *dataset, const Sample *sample,
                                 int32_t present[UNET_MOST_VALUES]) {
    const int32_t series = dataset_series_of_labels(dataset);
    int32_t count = 0;
    for (int32_t k = 0; series >= 0 && k < sample->volume[series].facts.nvalue; k++) {
        if (is_foreground(dataset, series, sample->volume[series].value[k])) {
            present[count++] = k;
        }
    }
    return count;
}

bool dataset_has_foreground(const UnetDataset *dataset, const Sample *sample) {
    int32_t present[UNET_MOST_VALUES];
    return foreground_values(dataset, sample, present) > 0;
}

bool dataset_draw_foreground(const UnetDataset *dataset, const Sample *sample, const UnetKey *key,
                             int32_t voxel[3]) {
    enum { CLASS_DRAW = WINDOW_AXES, VOXEL_DRAW }; /* behind the draws of a window */
    const int32_t series = dataset_series_of_labels(dataset);
    const UnetVoxels *volume = &sample->volume[series < 0 ? 0 : series];
    int32_t present[UNET_MOST_VALUES];
    const int32_t npresent = foreground_values(dataset, sample, present);
    int64_t voxels = 0;
    if (npresent == 0) {
        return false;
    }
    const int32_t k = present[unet_random_below(key, CLASS_DRAW, npresent)];
    for (int32_t z = 0; z < volume->info.size[0]; z++) {
        voxels += volume->count[(size_t)k * (size_t)volume->info.size[0] + (size_t)z];
    }
    if (voxels == 0 || !find_voxel(volume, k, unet_random_below(key, VOXEL_DRAW, voxels), voxel)) {
        return false;
    }
    for (int axis = 0; axis < 3; axis++) { /* one that is trimmed away stands for the nearest */
        const int32_t at = voxel[axis] - sample->origin[axis], last = sample->size[axis] - 1;
        voxel[axis] = at < 0 ? 0 : at > last ? last : at;
    }
    return true;
}

/* ---- whole volumes ---------------------------------------------------------------------------- */

void unet_dataset_volume_size(const UnetDataset *dataset, int32_t sample, int32_t size[3]) {
    memcpy(size, dataset->sample[sample].volume[0].info.size, 3 * sizeof *size);
}

UnetStatus unet_dataset_classes(const UnetDataset *dataset, int32_t sample, int32_t input, int32_t z,
                                int32_t y, float *row, UnetError *error) {
    const Sample *of = &dataset->sample[sample];
    for (int32_t i = 0; i < dataset->nseries; i++) {
        const int32_t source = dataset->series[i].source;
        if (dataset->source[source].input == input && dataset_is_labels(dataset, source)) {
            const int32_t width = of->volume[i].info.size[2];
            unet_voxels_row(&of->volume[i], z, y, 0, width, row);
            return dataset_to_classes(dataset, of, i, row, width, error);
        }
    }
    return unet_fail(error, UNET_BUG, "no volumes of labels fill input %" PRId32, input);
}

/* ---- reading ---------------------------------------------------------------------------------- */

void volume_push(const Reading *at, int32_t series, int32_t channel, float *operand) {
    const int32_t count = reading_columns(at);
    if (at->turn.turns) {
        turn_push(at, series, operand + (size_t)channel * (size_t)count);
        return;
    }
    const int32_t *origin = at->sample->origin;
    unet_voxels_row(&at->sample->volume[series], origin[2] + at->slice, origin[0] + at->row,
                    origin[1] + at->begin[1], count, operand + (size_t)channel * (size_t)count);
}

const UnetNormal *reading_normal(const Reading *at, const UnetSource *source) {
    const UnetDataset *dataset = at->dataset;
    return unet_normal_is_each(dataset->model->inputs[source->input].normalizing)
               ? &at->sample->each[source - dataset->source]
               : dataset_normal(dataset, source->input);
}

/* The columns that a map shows, [*begin, *end), from where they count in it from now on. */
static void needed_columns(Reading *at) {
    int32_t *map = at->scratch.map[1];
    at->begin[1] = INT32_MAX;
    at->end[1] = 0;
    for (int32_t x = 0; x < at->size[1]; x++) {
        if (map[x] >= 0) {
            at->begin[1] = map[x] < at->begin[1] ? map[x] : at->begin[1];
            at->end[1] = map[x] >= at->end[1] ? map[x] + 1 : at->end[1];
        }
        at->scratch.nowhere[x] = -1;
    }
    if (at->end[1] == 0) {
        at->begin[1] = 0;
    }
    for (int32_t x = 0; x < at->size[1]; x++) {
        map[x] -= map[x] >= 0 ? at->begin[1] : 0;
    }
}

/* Row (INTO, Y) of the window. */
static UnetStatus read_row(Reading *at, int32_t y) {
    const UnetDataset *dataset = at->dataset;
    UnetStatus status = UNET_OK;
    at->slice = at->scratch.map[2][at->into];
    at->row = at->scratch.map[0][y];
    const bool beside = at->slice < 0 || at->row < 0;
    for (int32_t s = 0; s < dataset->nsource && status == UNET_OK; s++) {
        status = beside ? UNET_OK : reading_evaluate(at, s);
        if (status == UNET_OK) {
            reading_store(at, &dataset->source[s], y,
                          at->scratch.value + (size_t)s * at->scratch.operand_row,
                          beside ? at->scratch.nowhere : at->scratch.map[1]);
        }
    }
    return status;
}

/* Row (INTO, Y) of a window that is turned. */
static UnetStatus read_turned_row(Reading *at, int32_t y) {
    const UnetDataset *dataset = at->dataset;
    UnetStatus status = UNET_OK;
    at->slice = at->into;
    at->row = y;
    turn_row(at);
    for (int32_t s = 0; s < dataset->nsource && status == UNET_OK; s++) {
        status = reading_evaluate(at, s);
        if (status == UNET_OK) {
            reading_store(at, &dataset->source[s], y,
                          at->scratch.value + (size_t)s * at->scratch.operand_row,
                          dataset_is_labels(dataset, s) ? at->scratch.labelled : at->scratch.map[1]);
        }
    }
    return status;
}

UnetStatus volume_read(Reading *at) {
    const UnetDataset *dataset = at->dataset;
    UnetStatus status = UNET_OK;
    at->multiple = 1;
    turn_draw(at);
    for (int axis = 0; axis < WINDOW_AXES; axis++) {
        window_map(&at->window, axis, 1, at->scratch.map[axis]);
    }
    at->size[0] = at->window.size[0];
    at->size[1] = at->window.size[1];
    needed_columns(at);
    if (at->turn.turns) {
        at->begin[1] = 0;
        at->end[1] = at->size[1];
        at->window.pad = at->window.pad == UNET_PAD_NONE ? UNET_PAD_MEAN : at->window.pad;
    }
    for (at->into = 0; at->into < at->window.size[2] && status == UNET_OK; at->into++) {
        for (int32_t y = 0; y < at->size[0] && status == UNET_OK; y++) {
            status = at->turn.turns ? read_turned_row(at, y) : read_row(at, y);
        }
    }
    if (status == UNET_OK) {
        volume_change(at);
    }
    for (int32_t s = 0; s < dataset->nsource && status == UNET_OK; s++) {
        if (dataset->purpose == UNET_TRAINING && dataset_is_masked(dataset, s) &&
            at->inputs[dataset->source[s].input] != NULL) {
            mask_window(at, s);
        }
    }
    return status;
}
