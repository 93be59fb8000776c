/* dataset_geometry.c - what check-data says of volumes: how large their voxels are, where their axes point,
 * and which have nothing of a class.
 *
 * None of it stops a run: voxels are read in the order in which they lie, whatever they measure.  But a
 * network that sees some scans upside down, or twice as large, learns less.
 */
#include "dataset_parts.h"
#include "unet/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1024, AXES = 3, MOST_CODES = 8 };

/* Writes the directions nearest to the axes x, y, z of a volume: "RAS" is right, forward, up. */
static void axis_code(const UnetVolumeInfo *info, char code[AXES + 1]) {
    static const char letters[AXES][2] = {{'R', 'L'}, {'A', 'P'}, {'S', 'I'}};
    for (int axis = 0; axis < AXES; axis++) {
        int most = 0;
        for (int i = 1; i < AXES; i++) {
            most = fabs(info->affine[i][axis]) > fabs(info->affine[most][axis]) ? i : most;
        }
        code[axis] = letters[most][info->affine[most][axis] < 0];
    }
    code[AXES] = '\0';
}

/* As the files are. */
static void describe_spacing(const UnetDataset *dataset, const char *name, UnetNote *note, void *context) {
    double least[AXES] = {INFINITY, INFINITY, INFINITY}, most[AXES] = {0};
    char text[LINE_BYTES];
    bool equal = true;
    for (int32_t i = 0; i < dataset->nsample; i++) {
        for (int axis = 0; axis < AXES; axis++) {
            const double spacing = dataset->sample[i].volume[0].source_spacing[axis];
            least[axis] = fmin(least[axis], spacing);
            most[axis] = fmax(most[axis], spacing);
            equal &= most[axis] <= 1.001 * least[axis];
        }
    }
    const double *target = dataset->model->spacing;
    const int n = equal ? snprintf(text, sizeof text, "%.100s: voxels of %g x %g x %g mm (depth first)",
                                   name, least[0], least[1], least[2])
                        : snprintf(text, sizeof text,
                                   "%.100s: %svoxels of %g x %g x %g to %g x %g x %g mm (depth first)",
                                   name, target[0] > 0 ? "" : "warning: ", least[0], least[1], least[2],
                                   most[0], most[1], most[2]);
    if (n > 0 && n < LINE_BYTES && target[0] > 0) {
        (void)snprintf(text + n, sizeof text - (size_t)n, ", resampled to %g x %g x %g mm", target[0],
                       target[1], target[2]);
    } else if (n > 0 && n < LINE_BYTES && !equal) {
        (void)snprintf(text + n, sizeof text - (size_t)n, ": they are not resampled without `spacing`");
    }
    note(context, text);
}

static void describe_axes(const UnetDataset *dataset, const char *name, UnetNote *note, void *context) {
    struct {
        char code[AXES + 1];
        int32_t count, first;
    } seen[MOST_CODES];
    int ncode = 0;
    char text[LINE_BYTES];
    for (int32_t i = 0; i < dataset->nsample; i++) {
        char code[AXES + 1];
        int k = 0;
        axis_code(&dataset->sample[i].volume[0].info, code);
        while (k < ncode && strcmp(seen[k].code, code) != 0) {
            k++;
        }
        if (k == MOST_CODES) {
            continue;
        }
        if (k == ncode) {
            memcpy(seen[ncode].code, code, sizeof code);
            seen[ncode].count = 0;
            seen[ncode++].first = i;
        }
        seen[k].count++;
    }
    int n = snprintf(text, sizeof text, "%.100s: %saxes point to", name, ncode > 1 ? "warning: " : "");
    for (int k = 0; k < ncode && n > 0 && n < LINE_BYTES; k++) {
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %s in %" PRId32 " volume%s", k > 0 ? "," : "",
                      seen[k].code, seen[k].count, unet_plural(seen[k].count));
        if (ncode > 1 && n < LINE_BYTES) {
            n += snprintf(text + n, sizeof text - (size_t)n, " (%.60s)",
                          unet_dataset_stem(dataset, seen[k].first));
        }
    }
    if (ncode > 1 && n > 0 && n < LINE_BYTES) {
        (void)snprintf(text + n, sizeof text - (size_t)n, ": they are not turned");
    }
    note(context, text);
}

/* Samples without a voxel of a class above 0. */
static void describe_empty(const UnetDataset *dataset, UnetNote *note, void *context) {
    const int32_t series = dataset_series_of_labels(dataset);
    int32_t count = 0, first = -1;
    char text[LINE_BYTES];
    for (int32_t i = 0; series >= 0 && i < dataset->nsample; i++) {
        if (!dataset_has_foreground(dataset, &dataset->sample[i])) {
            first = count++ == 0 ? i : first;
        }
    }
    if (count > 0) {
        (void)snprintf(text, sizeof text,
                       "%.100s: warning: %" PRId32 " of %" PRId32
                       " volumes have no voxel of a class above 0, such as %.200s",
                       dataset->source[dataset->series[series].source].name, count, dataset->nsample,
                       unet_dataset_stem(dataset, first));
        note(context, text);
    }
}

void dataset_describe_geometry(const UnetDataset *dataset, UnetNote *note, void *context) {
    if (!dataset->volumes || dataset->nsample == 0) {
        return;
    }
    const char *name = dataset->source[dataset->series[0].source].name;
    describe_spacing(dataset, name, note, context);
    describe_axes(dataset, name, note, context);
    describe_empty(dataset, note, context);
}
