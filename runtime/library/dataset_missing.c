/* dataset_missing.c - pictures with values that are no numbers: NaN, and nodata of satellites.
 *
 * They are refused with what to write, or become a number where they are read, or go on as NaN through
 * transforms and sums of sources, so that all that they touch is missing, too.  Once the window is stored
 * they become 0 there, and labels of these points count nowhere.
 */
#include "dataset_reading.h"
#include "unet/layout.h"

#include <math.h>

static bool ignores_missing(const UnetDataset *dataset) {
    bool ignores = false;
    for (int32_t i = 0; i < dataset->nseries; i++) {
        ignores |= dataset->series[i].way.missing == UNET_MISSING_IGNORED;
    }
    return ignores;
}

/* Points of labels and of images are the same, and images can hold NaN. */
UnetStatus dataset_check_missing(const UnetDataset *dataset, UnetError *error) {
    const UnetProgram *program = dataset->program;
    if (!ignores_missing(dataset)) {
        return UNET_OK;
    }
    for (int32_t i = 0; i < dataset->model->ninput; i++) {
        const UnetLayout *layout = &program->inputs[i];
        if (layout->sample_bytes > 0 && (layout->type == UNET_UNORM8 || layout->type == UNET_UNORM16)) {
            return unet_fail(error, UNET_USAGE,
                             "`missing = \"ignore\"` needs images in floats, and this is compiled with "
                             "--staging=%s",
                             layout->type == UNET_UNORM8 ? "u8" : "u16");
        }
        if (layout->sample_bytes > 0 && (layout->size[1] != program->inputs[0].size[1] ||
                                         layout->size[2] != program->inputs[0].size[2])) {
            return unet_fail(error, UNET_USAGE,
                             "`missing = \"ignore\"` needs inputs and targets of one size: write a number");
        }
    }
    return UNET_OK;
}

UnetStatus dataset_settle_missing(const UnetDataset *dataset, const Sample *sample, int32_t series,
                                  float *value, size_t count, UnetError *error) {
    const FileSeries *files = &dataset->series[series];
    if (unet_settle_missing(&files->way, value, count)) {
        return UNET_OK;
    }
    char path[UNET_PATH_BYTES];
    const UnetStatus status = dataset_path(dataset, files, sample, path, error);
    return status == UNET_OK ? unet_fail_missing(path, error) : status;
}

/* Row Y of input INPUT: MISSING[x] where some channel is NaN, which becomes 0. */
static void settle_row(const Reading *at, int32_t input, int32_t y, int32_t *missing) {
    const UnetLayout *layout = &at->dataset->program->inputs[input];
    const int32_t width = layout->size[2];
    float *row = at->scratch.operand;
    bool any = false;
    unet_layout_load_row(layout, at->inputs[input], at->n, 0, y, row);
    for (int32_t i = 0; i < layout->channels * width; i++) {
        if (isnan(row[i])) {
            row[i] = 0;
            missing[i % width] = 1;
            any = true;
        }
    }
    if (any) {
        unet_layout_store_row(layout, at->inputs[input], at->n, 0, y, row, width, NULL, NULL);
    }
}

static void ignore_labels(const Reading *at, int32_t input, int32_t y, const int32_t *missing) {
    const UnetLayout *layout = &at->dataset->program->inputs[input];
    float *row = at->scratch.operand;
    unet_layout_load_row(layout, at->inputs[input], at->n, 0, y, row);
    for (int32_t x = 0; x < layout->size[2]; x++) {
        row[x] = missing[x] != 0 ? UNET_IGNORED : row[x];
    }
    unet_layout_store_row(layout, at->inputs[input], at->n, 0, y, row, layout->size[2], NULL, NULL);
}

void missing_settle(const Reading *at) {
    const UnetModel *model = at->dataset->model;
    const int32_t *size = at->dataset->program->inputs[0].size;
    if (!ignores_missing(at->dataset)) {
        return;
    }
    for (int32_t y = 0; y < size[1]; y++) {
        int32_t *missing = at->scratch.nowhere; /* which the last pass is done with */
        for (int32_t x = 0; x < size[2]; x++) {
            missing[x] = 0;
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int32_t i = 0; i < model->ninput; i++) {
                const bool labels = model->inputs[i].kind == UNET_LABELS;
                if (at->inputs[i] == NULL || labels != (pass == 1)) {
                    continue;
                }
                if (labels) {
                    ignore_labels(at, i, y, missing);
                } else {
                    settle_row(at, i, y, missing);
                }
            }
        }
    }
}
