/* predict_volume.c - one volume through the model, and functions that predict_windows.c shares.
 *
 * Its voxels are decoded into memory, normalised as in training, and padded to the compiled size
 * behind its last slice, row and column, as the model's file says (`pad`).  Results are cut back, and
 * written in the geometry of the input: classes as whole numbers, other outputs as floats.  If the
 * model's file has a `spacing`, all between reading and writing is on that grid.
 */
#include "predict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/layout.h"
#include "unet/normal.h"
#include "unet/voxels.h"

/* A volume on its way. */
typedef struct {
    Prediction *prediction;
    UnetVoxels channel[UNET_MOST_NORMALIZED]; /* its files */
    int32_t nchannel;
    UnetVolumeInfo file; /* the grid of the first */
    int32_t begin[3];    /* the predicted part, on the model's grid, z, y, x, */
    int32_t size[3];     /*   and how much */
    UnetNormal each;
    const UnetNormal *normal; /* or NULL */
    float *slice;             /* of a channel of a result */
    VolumeResult *result;     /* of each output */
} Passage;

static const UnetLayout *input_layout(const Prediction *prediction) {
    return &prediction->program->inputs[prediction->input];
}

UnetNormalizing normalizing_of(const Prediction *prediction) {
    return prediction->driver->model->inputs[prediction->input].normalizing;
}

UnetSampling volume_sampling(const Prediction *prediction) {
    const double *spacing = prediction->driver->model->spacing;
    return (UnetSampling){.spacing = {spacing[0], spacing[1], spacing[2]},
                          .how = prediction->driver->model->cubic ? UNET_CUBIC : UNET_LINEAR,
                          .masked = normalizing_of(prediction) == UNET_NORMALIZED_MASKED};
}

/* ---- checks before ----------------------------------------------------------------------------- */

UnetStatus prediction_check_volume(const Prediction *prediction) {
    const UnetModel *model = prediction->driver->model;
    UnetError *error = &prediction->driver->error;
    if (prediction->driver->options.overlay)
        return unet_fail(error, UNET_USAGE, "--overlay shows pictures, and %s takes volumes", model->name);
    if (input_layout(prediction)->channels > UNET_MOST_NORMALIZED)
        return unet_fail(error, UNET_USAGE, "predict reads volumes of at most %d channels",
                         UNET_MOST_NORMALIZED);
    for (int i = 0; i < model->noutput; i++)
        if (memcmp(model->predict->outputs[i].size, model->predict->size, sizeof model->predict->size) != 0)
            return unet_fail(error, UNET_USAGE,
                             "predict writes volumes as large as the input, and output %s has another "
                             "size: let `resize` or "
                             "`match` give it that size",
                             model->outputs[i].name);
    return UNET_OK;
}

UnetStatus prediction_check_volume_size(const Prediction *prediction, const char *in) {
    const UnetSampling sampling = volume_sampling(prediction);
    UnetSampledVolume *volume;
    UnetStatus status = unet_sampled_open(&volume, in, &sampling, &prediction->driver->error);
    unet_sampled_close(volume);
    return status;
}

UnetStatus prediction_read_volume(const char *in, UnetError *error) {
    UnetVolumeReader *reader;
    int64_t strange = 0;
    UnetStatus status = unet_volume_open(&reader, in, error);
    if (status != UNET_OK)
        return status;
    const UnetVolumeInfo *info = unet_volume_info(reader);
    void *slice = calloc((size_t)info->size[1] * (size_t)info->size[2], unet_voxel_bytes(info->type));
    for (int32_t z = 0; slice != NULL && z < info->size[0] && status == UNET_OK; z++)
        status = unet_volume_read_slice(reader, slice, &strange, error);
    free(slice);
    unet_volume_close(reader);
    return status;
}

/* ---- in --------------------------------------------------------------------------------------- */

UnetStatus volume_channel(const Prediction *prediction, const char *in, int32_t c,
                          char path[UNET_PATH_BYTES]) {
    const int n = c > 0 ? 0 : snprintf(path, UNET_PATH_BYTES, "%s", in);
    if (c > 0 ? !unet_volume_channel_path(in, c, path, UNET_PATH_BYTES) : n >= UNET_PATH_BYTES)
        return unet_fail(&prediction->driver->error, UNET_USAGE,
                         "%s: the model has %" PRId32 " channels: name the file of the first, which has "
                         "`_0000` in its name",
                         in, input_layout(prediction)->channels);
    return UNET_OK;
}

/* The file of channel C, whose first is IN. */
static UnetStatus open_channel(Passage *p, const char *in, int32_t c) {
    UnetError *error = &p->prediction->driver->error;
    const UnetSampling sampling = volume_sampling(p->prediction);
    char name[UNET_PATH_BYTES], why[200];
    UnetStatus status = volume_channel(p->prediction, in, c, name);
    if (status == UNET_OK)
        status = unet_voxels_decode(&p->channel[c], name, &sampling, error);
    if (status != UNET_OK)
        return status;
    p->nchannel++;
    if (p->channel[c].facts.strange > 0)
        (void)fprintf(stderr, "%s: %" PRId64 " voxels are not finite, and count as 0\n", name,
                      p->channel[c].facts.strange);
    if (!unet_volume_same_grid(&p->channel[0].info, &p->channel[c].info, why))
        return unet_fail(error, UNET_IO, "%s does not lie where %s does: %s", name, in, why);
    return UNET_OK;
}

/* The grid of the file itself, to which results return. */
static UnetStatus find_file(Passage *p, const char *in) {
    UnetVolumeReader *reader;
    UnetStatus status = unet_volume_open(&reader, in, &p->prediction->driver->error);
    if (status == UNET_OK)
        p->file = *unet_volume_info(reader);
    unet_volume_close(reader);
    return status;
}

static UnetStatus open_volume(Passage *p, const char *in) {
    const Driver *driver = p->prediction->driver;
    UnetStatus status = prediction_check_volume_size(p->prediction, in);
    if (status == UNET_OK)
        status = find_file(p, in);
    for (int32_t c = 0; c < input_layout(p->prediction)->channels && status == UNET_OK; c++)
        status = open_channel(p, in, c);
    if (status != UNET_OK)
        return status;
    p->normal = volume_normal(p->prediction, p->channel, p->nchannel, &p->each);
    memcpy(p->size, p->channel[0].info.size, sizeof p->size);
    if (driver->model->trims)
        volume_trim(p->channel, p->nchannel, p->begin, p->size);
    return UNET_OK;
}

const UnetNormal *volume_normal(const Prediction *prediction, const UnetVoxels *channel, int32_t channels,
                                UnetNormal *each) {
    const UnetNormalizing how = normalizing_of(prediction);
    if (how == UNET_AS_READ)
        return NULL;
    if (!unet_normal_is_each(how))
        return &prediction->driver->normal[prediction->input];
    unet_voxels_normal(channel, channels, each);
    return each;
}

void volume_trim(const UnetVoxels *channel, int32_t channels, int32_t begin[3], int32_t size[3]) {
    int32_t end[3];
    unet_voxels_box(channel, channels, begin, end);
    for (int i = 0; i < 3; i++)
        size[i] = end[i] - begin[i];
}

void volume_mask_row(const Prediction *prediction, const UnetVoxels *channel, int32_t channels,
                     const int32_t at[3], int32_t count, size_t stride, float *row) {
    const bool masked = normalizing_of(prediction) == UNET_NORMALIZED_MASKED;
    for (int32_t x = 0; x < count && masked; x++)
        for (int32_t c = 0; c < channels && !unet_voxels_masked(channel, channels, at[0], at[1], at[2] + x);
             c++)
            row[(size_t)c * stride + (size_t)x] = 0;
}

void volume_fill(const Prediction *prediction, const UnetNormal *normal, float fill[UNET_MOST_NORMALIZED]) {
    memset(fill, 0, UNET_MOST_NORMALIZED * sizeof *fill);
    if (normal != NULL && prediction->driver->model->predict_pad != UNET_PAD_MEAN)
        unet_normalize(normal, input_layout(prediction)->channels, 1, 1, fill, fill);
}

/* Row (D, H) of the padded volume. */
static void store_row(const Passage *p, int32_t d, int32_t h, const int32_t *nowhere) {
    const Prediction *prediction = p->prediction;
    const UnetLayout *layout = input_layout(prediction);
    const UnetPad pad = prediction->driver->model->predict_pad;
    const int32_t z = unet_pad_index(pad, d, p->size[0]), y = unet_pad_index(pad, h, p->size[1]);
    const size_t width = (size_t)p->size[2];
    float fill[UNET_MOST_NORMALIZED];
    volume_fill(prediction, p->normal, fill);
    const bool real = z >= 0 && y >= 0;
    const int32_t at[3] = {p->begin[0] + z, p->begin[1] + y, p->begin[2]};
    for (int32_t c = 0; real && c < p->nchannel; c++)
        unet_voxels_row(&p->channel[c], at[0], at[1], at[2], p->size[2],
                        prediction->row + (size_t)c * width);
    if (p->normal != NULL)
        unet_normalize(p->normal, p->nchannel, width, width, prediction->row, prediction->row);
    if (real)
        volume_mask_row(prediction, p->channel, p->nchannel, at, p->size[2], width, prediction->row);
    unet_layout_store_row(layout, prediction_input(prediction), 0, d, h, prediction->row, p->size[2],
                          real ? prediction->from : nowhere, fill);
}

static UnetStatus store_volume(const Passage *p) {
    const Prediction *prediction = p->prediction;
    const UnetLayout *layout = input_layout(prediction);
    const UnetPad pad = prediction->driver->model->predict_pad;
    int32_t *nowhere = malloc((size_t)layout->size[2] * sizeof *nowhere);
    if (nowhere == NULL)
        return unet_fail(&prediction->driver->error, UNET_TOO_SMALL, "no memory for a row of voxels");
    for (int32_t x = 0; x < layout->size[2]; x++) {
        prediction->from[x] = unet_pad_index(pad, x, p->size[2]);
        nowhere[x] = -1;
    }
    for (int32_t d = 0; d < layout->size[0]; d++)
        for (int32_t h = 0; h < layout->size[1]; h++)
            store_row(p, d, h, nowhere);
    free(nowhere);
    return UNET_OK;
}

/* ---- out -------------------------------------------------------------------------------------- */

/* All voxels of channel C of output I, slice by slice; 0 where nothing was predicted. */
static UnetStatus write_channel(const Passage *p, int i, int32_t c) {
    const Prediction *prediction = p->prediction;
    const UnetLayout *layout = &prediction->program->outputs[i];
    const char *base = prediction->device.arena + prediction->program->output_offsets[i];
    const int32_t *whole = p->channel[0].info.size, end = p->begin[0] + p->size[0];
    const bool regions = predicts_regions(prediction, i);
    UnetStatus status = UNET_OK;
    for (int32_t z = 0; z < whole[0] && status == UNET_OK; z++) {
        memset(p->slice, 0, (size_t)whole[1] * (size_t)whole[2] * sizeof *p->slice);
        for (int32_t y = 0; y < p->size[1] && z >= p->begin[0] && z < end; y++) {
            unet_layout_load_row(layout, base, 0, z - p->begin[0], y, prediction->row);
            for (int32_t x = 0; x < p->size[2] && regions; x++)
                prediction->row[x] = region_at(prediction, prediction->row + x, (size_t)layout->size[2]);
            memcpy(p->slice + (size_t)(p->begin[1] + y) * (size_t)whole[2] + p->begin[2],
                   prediction->row + (ptrdiff_t)c * layout->size[2], (size_t)p->size[2] * sizeof(float));
        }
        status = volume_write(&p->result[i], c, p->slice, &prediction->driver->error);
    }
    return status;
}

static UnetStatus write_output(const Passage *p, const char *in, int i) {
    Prediction *prediction = p->prediction;
    const UnetLayout *layout = &prediction->program->outputs[i];
    UnetStatus status = volume_create(prediction, in, i, &p->file, p->channel[0].info.size, &p->result[i]);
    if (status == UNET_OK)
        status = device_fetch(&prediction->device, prediction->program->output_offsets[i],
                              layout->sample_bytes, &prediction->driver->error);
    const int32_t channels = predicts_regions(prediction, i) ? 1 : layout->channels;
    for (int32_t c = 0; c < channels && status == UNET_OK; c++)
        status = write_channel(p, i, c);
    return status;
}

/* ---- one volume ------------------------------------------------------------------------------- */

static UnetStatus pass(const Passage *p) {
    Prediction *prediction = p->prediction;
    const UnetStep step = {.arena = prediction->device.arena,
                           .inputs = prediction->inputs,
                           .n = 1,
                           .threads = prediction->driver->threads,
                           .bands = 1};
    device_prepare(&prediction->device, prediction->program, &step);
    UnetStatus status = store_volume(p);
    if (status == UNET_OK)
        status = device_run(&prediction->device, prediction->program, &step, &prediction->driver->error);
    prediction->driver->stopped_by = signals_look();
    return status;
}

static bool fits(const UnetProgram *program, const int32_t size[3]) {
    return size[0] <= program->size[0] && size[1] <= program->size[1] && size[2] <= program->size[2];
}

/* The size of the box that is predicted of IN, for which its voxels are read once. */
static UnetStatus find_box(const Prediction *prediction, const char *in, int32_t size[3]) {
    const UnetSampling sampling = volume_sampling(prediction);
    UnetVoxels seen[UNET_MOST_NORMALIZED] = {{.voxel = NULL}};
    const int32_t channels = input_layout(prediction)->channels;
    int32_t begin[3];
    UnetStatus status = UNET_OK;
    for (int32_t c = 0; c < channels && status == UNET_OK; c++) {
        char path[UNET_PATH_BYTES];
        status = volume_channel(prediction, in, c, path);
        if (status == UNET_OK)
            status = unet_voxels_survey(&seen[c], path, &sampling, &prediction->driver->error);
    }
    if (status == UNET_OK)
        volume_trim(seen, channels, begin, size);
    for (int32_t c = 0; c < channels; c++)
        unet_voxels_close(&seen[c]);
    return status;
}

/* Whether IN goes by windows: where the model's file says so, or where it is larger than one. */
static UnetStatus choose_way(Prediction *prediction, const char *in) {
    const UnetProgram *program = prediction->program;
    const UnetSampling sampling = volume_sampling(prediction);
    UnetSampledVolume *volume;
    int32_t size[3];
    UnetStatus status = unet_sampled_open(&volume, in, &sampling, &prediction->driver->error);
    if (status != UNET_OK)
        return status;
    memcpy(size, unet_sampled_info(volume)->size, sizeof size);
    unet_sampled_close(volume);
    prediction->by_windows = program->windows->given || prediction->taker != NULL;
    if (prediction->by_windows || fits(program, size))
        return UNET_OK;
    if (prediction->driver->model->trims)
        status = find_box(prediction, in, size);
    prediction->by_windows = !fits(program, size);
    return status;
}

static UnetStatus predict_whole_volume(Prediction *prediction, const char *in) {
    const UnetModel *model = prediction->driver->model;
    Passage p = {.prediction = prediction};
    p.result = calloc((size_t)model->noutput + 1, sizeof *p.result);
    UnetStatus status = p.result != NULL ? open_volume(&p, in)
                                         : unet_fail(&prediction->driver->error, UNET_TOO_SMALL,
                                                     "no memory for the results");
    if (status == UNET_OK) {
        const int32_t *size = p.channel[0].info.size;
        p.slice = calloc((size_t)size[1] * (size_t)size[2] + 1, sizeof *p.slice);
        status = p.slice != NULL ? pass(&p)
                                 : unet_fail(&prediction->driver->error, UNET_TOO_SMALL,
                                             "no memory for a slice of %s", in);
    }
    const int written = prediction->driver->stopped_by == 0 && p.slice != NULL ? model->noutput : 0;
    for (int i = 0; i < written && status == UNET_OK; i++)
        status = write_output(&p, in, i);
    if (p.result != NULL)
        status = volumes_end(prediction, in, p.result, status);
    for (int32_t c = 0; c < p.nchannel; c++)
        unet_voxels_close(&p.channel[c]);
    free(p.slice);
    free(p.result);
    return status;
}

UnetStatus predict_volume(Prediction *prediction, const char *in) {
    UnetStatus status = choose_way(prediction, in);
    if (status != UNET_OK)
        return status;
    return prediction->by_windows ? predict_windows(prediction, in) : predict_whole_volume(prediction, in);
}
