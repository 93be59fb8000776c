/* predict_result.c - the files that a volume's outputs go to.
 *
 * They have the grid of the input's file.  If the program computed on another one (`spacing`), each
 * slice of a channel passes a resampler on its way: classes take the nearest voxel, other numbers are
 * linear between two.  Few slices are held, whatever the depth.
 */
#include "predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One for each channel, from the grid of SIZE to the grid of the file. */
static UnetStatus make_resamplers(VolumeResult *result, const int32_t size[3], UnetInterpolation how,
                                  UnetError *error) {
    const UnetInterpolation axes[3] = {how, how, how};
    bool good = true;
    result->resampler = calloc((size_t)result->channels, sizeof *result->resampler);
    result->slice = malloc(result->points * sizeof *result->slice);
    for (int32_t c = 0; c < result->channels && good; c++) {
        good = result->resampler != NULL && result->slice != NULL;
        if (good)
            good = (result->resampler[c] = unet_resampler_new(size, result->size, axes)) != NULL;
    }
    return good ? UNET_OK : unet_fail(error, UNET_TOO_SMALL, "no memory for slices of a result");
}

bool predicts_regions(const Prediction *prediction, int i) {
    const UnetModel *model = prediction->driver->model;
    return model->regions.count > 0 && model->outputs[i].kind == UNET_VOLUME &&
           prediction->program->outputs[i].channels == model->regions.count;
}

float region_at(const Prediction *prediction, const float *value, size_t stride) {
    const UnetRegions *regions = &prediction->driver->model->regions;
    int32_t class = 0;
    for (int32_t c = 0; c < regions->count; c++)
        if ((double)value[(size_t)c * stride] > regions->above)
            class = regions->class_of[c];
    return (float)class;
}

/* Classes that the file of output I has; 0: it has floats. */
static int32_t classes_of(const Prediction *prediction, int i) {
    const UnetModel *model = prediction->driver->model;
    const UnetOutput *output = &model->outputs[i];
    int32_t most = 0;
    for (int32_t c = 0; c < model->regions.count; c++)
        most = model->regions.class_of[c] > most ? model->regions.class_of[c] : most;
    if (predicts_regions(prediction, i))
        return most + 1;
    return output->kind != UNET_LABELS ? 0 : output->classes > 0 ? output->classes : 2;
}

UnetStatus volume_create(const Prediction *prediction, const char *in, int i, const UnetVolumeInfo *like,
                         const int32_t size[3], VolumeResult *result) {
    UnetError *error = &prediction->driver->error;
    const int32_t classes = classes_of(prediction, i);
    char path[UNET_PATH_BYTES];
    *result = (VolumeResult){.channels = classes > 0 ? 1 : prediction->program->outputs[i].channels,
                             .points = (size_t)size[1] * (size_t)size[2],
                             .streamed = prediction->by_windows};
    UnetStatus status = output_path(prediction, in, i, path);
    if (status == UNET_OK)
        status = unet_volume_create(&result->writer, path, like, result->channels, classes, error);
    if (status != UNET_OK || memcmp(size, like->size, sizeof like->size) == 0)
        return status;
    memcpy(result->size, like->size, sizeof result->size);
    result->points = (size_t)like->size[1] * (size_t)like->size[2];
    return make_resamplers(result, size, classes > 0 ? UNET_NEAREST : UNET_LINEAR, error);
}

/* A slice of the file. */
static UnetStatus write_slice(VolumeResult *result, int32_t channel, const float *slice, UnetError *error) {
    return result->streamed
               ? unet_volume_write_channel(result->writer, channel, slice, result->points, error)
               : unet_volume_write(result->writer, slice, result->points, error);
}

UnetStatus volume_write(VolumeResult *result, int32_t channel, const float *slice, UnetError *error) {
    if (result->resampler == NULL)
        return write_slice(result, channel, slice, error);
    UnetResampler *resampler = result->resampler[channel];
    UnetStatus status = UNET_OK;
    unet_resampler_feed(resampler, slice);
    while (status == UNET_OK && unet_resampler_ready(resampler)) {
        unet_resampler_take(resampler, result->slice);
        status = write_slice(result, channel, result->slice, error);
    }
    return status;
}

static void free_resamplers(VolumeResult *result) {
    for (int32_t c = 0; result->resampler != NULL && c < result->channels; c++)
        unet_resampler_free(result->resampler[c]);
    free(result->resampler);
    free(result->slice);
}

UnetStatus volumes_end(const Prediction *prediction, const char *in, VolumeResult *result,
                       UnetStatus status) {
    const bool whole = prediction->driver->stopped_by == 0;
    for (int i = 0; i < prediction->driver->model->noutput; i++) {
        char path[UNET_PATH_BYTES];
        free_resamplers(&result[i]);
        if (whole && status == UNET_OK)
            status = unet_volume_finish(result[i].writer, &prediction->driver->error);
        else
            unet_volume_discard(result[i].writer);
        if (whole && status == UNET_OK && output_path(prediction, in, i, path) == UNET_OK)
            (void)fprintf(stderr, "%s -> %s\n", in, path);
    }
    return status;
}
