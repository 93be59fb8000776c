/* predict_windows.c - a volume through the model by windows that overlap (unet/windows.h).
 *
 *     slices     0        p1       p2                      of the axis that runs slowest
 *     windows    |-----------------|
 *                         |-----------------|
 *     written    |--------|                                once the windows at 0 are through
 *
 * As many slices as a window is deep are held, of the input and of each output's sums, slice z at place z
 * mod that: the volume is read, computed and written slice by slice, and memory does not grow with its
 * depth.  They lie in the arena if the model's file says `windows h, w` and these suffice, else beside
 * it.  Slices of another `spacing` are resampled on the way in and out (unet/resample.h).  Each point of a
 * sum gets the numbers of the windows in their order (depth, height, width, then mirrors), so the result is
 * equal to sums over the whole volume, bit for bit.
 *
 * Without `windows` in the model's file an output of classes is a map of these: each window then votes,
 * with the weight of each point, and the class with most of it counts.
 *
 * A volume that is smaller than a window lies in its middle, and `pad` says the voxels around it.
 */
#include "predict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unet/layout.h"
#include "unet/normal.h"
#include "unet/voxels.h"
#include "unet/windows.h"

enum { AXES = 3 };

/* One axis of the volume. */
typedef struct {
    int32_t size, window, count; /* voxels; of a window; windows */
    float *weight;               /* of each point of a window */
    float *total;                /* of each voxel: the weights of all windows that show it */
} Axis;

/* As many slices of an output as a window is deep. */
typedef struct {
    int32_t channels; /* of a slice: the output's, or, of votes, its classes */
    bool votes;
    float *sum;
} Slices;

/* A volume on its way. */
typedef struct {
    Prediction *prediction;
    const UnetWindows *windows;
    UnetSampledVolume *reader[UNET_MOST_NORMALIZED]; /* its files */
    const char *in;
    UnetVolumeInfo info; /* of the first, on the model's grid */
    int32_t begin[AXES]; /* the begin of the predicted part, z, y, x */
    int32_t nchannel;
    UnetVoxels seen[UNET_MOST_NORMALIZED]; /* their measures, if they are read once before */
    UnetNormal each;
    const UnetNormal *normal; /* or NULL */
    float fill[UNET_MOST_NORMALIZED];
    Axis axis[AXES]; /* z, y, x, of the predicted part */
    size_t plane;    /* voxels of a slice of that */
    float *slices;   /* of the input, */
    Slices *sums;    /*   and of each output; beside the arena where that has no room for them */
    bool beside;
    void *slice;   /* as it is read */
    float *points; /*   and as a channel of a result is made, */
    float *whole;  /*   and written, where that has more than is predicted, else NULL */
    int32_t *nowhere;
    int32_t read, written; /* slices */
    int64_t strange;
    VolumeResult *result; /* of each output */
} Passage;

static UnetError *error_of(const Passage *p) {
    return &p->prediction->driver->error;
}

static const UnetLayout *input_layout(const Passage *p) {
    return &p->prediction->program->inputs[p->prediction->input];
}

/* Among SLICES: of slice Z, channel C of CHANNELS. */
static float *slice_at(const Passage *p, float *slices, int32_t channels, int32_t z, int32_t c) {
    return slices + ((size_t)(z % p->axis[0].window) * (size_t)channels + (size_t)c) * p->plane;
}

/* ---- in --------------------------------------------------------------------------------------- */

/* Slices in front of the predicted part. */
static UnetStatus skip_slices(Passage *p) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < p->begin[0] * p->nchannel && status == UNET_OK; i++)
        status = unet_sampled_read_slice(p->reader[i % p->nchannel], p->slice, &p->strange, error_of(p));
    return status;
}

/* The next slice of all channels, normalised, to its place. */
static UnetStatus read_slice(Passage *p) {
    float *slice = slice_at(p, p->slices, p->nchannel, p->read, 0);
    const int32_t height = p->axis[1].size, width = p->axis[2].size;
    for (int32_t c = 0; c < p->nchannel; c++) {
        const UnetVoxels one = {.info = *unet_sampled_info(p->reader[c]), .voxel = p->slice};
        UnetStatus status = unet_sampled_read_slice(p->reader[c], p->slice, &p->strange, error_of(p));
        if (status != UNET_OK)
            return status;
        for (int32_t y = 0; y < height; y++)
            unet_voxels_row(&one, 0, p->begin[1] + y, p->begin[2], width,
                            slice + (size_t)c * p->plane + (size_t)y * (size_t)width);
    }
    if (p->normal != NULL)
        unet_normalize(p->normal, p->nchannel, p->plane, p->plane, slice, slice);
    for (int32_t y = 0; y < height; y++) {
        const int32_t at[AXES] = {p->begin[0] + p->read, p->begin[1] + y, p->begin[2]};
        volume_mask_row(p->prediction, p->seen, p->nchannel, at, width, p->plane,
                        slice + (size_t)y * (size_t)width);
    }
    p->read++;
    return UNET_OK;
}

/* Point I of a window that is mirrored, if it is, as the window shows it. */
static int32_t shown(const Axis *axis, bool mirrored, int32_t i) {
    return mirrored ? axis->window - 1 - i : i;
}

static bool mirrors(uint32_t mirror, int axis) {
    return (mirror >> axis & 1) != 0;
}

/* The window that begins at BEGIN, mirrored, to where the program reads it. */
static void store_window(const Passage *p, const int32_t begin[AXES], uint32_t mirror) {
    const Prediction *prediction = p->prediction;
    const UnetLayout *layout = input_layout(p);
    const UnetPad pad = prediction->driver->model->predict_pad;
    int64_t from[AXES];
    for (int32_t x = 0; x < layout->size[2]; x++)
        prediction->from[x] =
            unet_pad_index(pad, begin[2] + shown(&p->axis[2], mirrors(mirror, 2), x), p->axis[2].size);
    for (int32_t row = 0; row < layout->size[0] * layout->size[1]; row++) {
        const int32_t d = row / layout->size[1], h = row % layout->size[1];
        from[0] = begin[0] + shown(&p->axis[0], mirrors(mirror, 0), d);
        from[1] = begin[1] + shown(&p->axis[1], mirrors(mirror, 1), h);
        const int32_t z = unet_pad_index(pad, from[0], p->axis[0].size),
                      y = unet_pad_index(pad, from[1], p->axis[1].size);
        const bool real = z >= 0 && y >= 0;
        const float *line = slice_at(p, p->slices, p->nchannel, real ? z : 0, 0) +
                            (size_t)(real ? y : 0) * (size_t)p->axis[2].size;
        unet_layout_store_row(layout, prediction_input(prediction), 0, d, h, line, (int64_t)p->plane,
                              real ? prediction->from : p->nowhere, p->fill);
    }
}

/* ---- sums ------------------------------------------------------------------------------------- */

/* Adds one row of a window, from point FIRST to END, to SUM, which belongs to point FIRST. */
static void add_row(const Axis *axis, bool mirrored, int32_t first, int32_t end, float weight,
                    const float *row, float *sum) {
    const float *value = row + shown(axis, mirrored, first), *here = axis->weight + first;
    const ptrdiff_t step = mirrored ? -1 : 1;
    for (int32_t i = 0; i < end - first; i++)
        sum[i] += weight * here[i] * value[i * step];
}

/* The same of votes, whose sums of class after class lie STRIDE apart. */
static void add_votes(const Axis *axis, int32_t first, int32_t end, float weight, const float *row,
                      float *sum, ptrdiff_t stride) {
    for (int32_t i = first; i < end; i++)
        sum[(ptrdiff_t)row[i] * stride + (i - first)] += weight * axis->weight[i];
}

/* Output I of the window at BEGIN to its sums. */
static void add_window(const Passage *p, int i, const int32_t begin[AXES], uint32_t mirror) {
    const Prediction *prediction = p->prediction;
    const UnetLayout *layout = &prediction->program->outputs[i];
    const char *base = prediction->device.arena + prediction->program->output_offsets[i];
    const Slices *sums = &p->sums[i];
    const Axis *axis = p->axis;
    const int32_t first = begin[2] < 0 ? -begin[2] : 0,
                  end = begin[2] + axis[2].window < axis[2].size ? axis[2].window : axis[2].size - begin[2];
    for (int32_t row = 0; row < layout->size[0] * layout->size[1]; row++) {
        const int32_t d = row / layout->size[1], h = row % layout->size[1];
        const int32_t at[2] = {shown(&axis[0], mirrors(mirror, 0), d),
                               shown(&axis[1], mirrors(mirror, 1), h)};
        const int32_t z = begin[0] + at[0], y = begin[1] + at[1];
        if (z < 0 || z >= axis[0].size || y < 0 || y >= axis[1].size)
            continue;
        const float weight = axis[0].weight[at[0]] * axis[1].weight[at[1]];
        unet_layout_load_row(layout, base, 0, d, h, prediction->row);
        for (int32_t c = 0; c < layout->channels; c++) {
            const ptrdiff_t there = (ptrdiff_t)y * axis[2].size + begin[2] + first;
            const float *value = prediction->row + (ptrdiff_t)c * layout->size[2];
            float *sum = slice_at(p, sums->sum, sums->channels, z, c) + there;
            if (sums->votes)
                add_votes(&axis[2], first, end, weight, value, sum, (ptrdiff_t)p->plane);
            else
                add_row(&axis[2], mirrors(mirror, 2), first, end, weight, value, sum);
        }
    }
}

/* The window at BEGIN, mirrored along each set of the axes that it is to be. */
static UnetStatus compute_window(const Passage *p, const int32_t begin[AXES]) {
    Prediction *prediction = p->prediction;
    const UnetProgram *program = prediction->program;
    const UnetStep step = {.arena = prediction->device.arena,
                           .inputs = prediction->inputs,
                           .n = 1,
                           .threads = prediction->driver->threads,
                           .bands = 1};
    UnetStatus status = UNET_OK;
    for (uint32_t mirror = 0; mirror < 1U << AXES && status == UNET_OK; mirror++) {
        if ((mirror & ~p->windows->mirror) != 0)
            continue;
        store_window(p, begin, mirror);
        status = device_run(&prediction->device, program, &step, error_of(p));
        for (int i = 0; i < prediction->driver->model->noutput && status == UNET_OK; i++) {
            status = device_fetch(&prediction->device, program->output_offsets[i],
                                  program->outputs[i].sample_bytes, error_of(p));
            if (status == UNET_OK)
                add_window(p, i, begin, mirror);
        }
        prediction->driver->stopped_by = signals_look();
        if (prediction->driver->stopped_by != 0)
            break;
    }
    return status;
}

/* ---- out -------------------------------------------------------------------------------------- */

/* Sums of slice Z of output I become means. */
static void divide_slice(const Passage *p, int i, int32_t z) {
    const int32_t channels = p->sums[i].channels, width = p->axis[2].size;
    for (int32_t c = 0; c < channels; c++)
        for (int32_t y = 0; y < p->axis[1].size; y++) {
            float *row = slice_at(p, p->sums[i].sum, channels, z, c) + (ptrdiff_t)y * width;
            const float weight = p->axis[0].total[z] * p->axis[1].total[y];
            for (int32_t x = 0; x < width; x++)
                row[x] /= weight * p->axis[2].total[x];
        }
}

/* SLICE of the predicted part, or zeros (NULL), as a slice of the whole volume. */
static const float *surround(const Passage *p, const float *slice) {
    const size_t width = (size_t)p->axis[2].size, whole = (size_t)p->info.size[2];
    if (p->whole == NULL)
        return slice;
    memset(p->whole, 0, (size_t)p->info.size[1] * whole * sizeof *p->whole);
    for (int32_t y = 0; y < p->axis[1].size && slice != NULL; y++)
        memcpy(p->whole + (size_t)(p->begin[1] + y) * whole + p->begin[2], slice + (size_t)y * width,
               width * sizeof *slice);
    return p->whole;
}

/* Slice Z of the whole volume of channel C of output I goes where results go. */
static UnetStatus pass_on(const Passage *p, int i, int32_t c, int32_t z, const float *slice) {
    SliceTaker *taker = p->prediction->taker;
    slice = surround(p, slice);
    return taker != NULL ? taker->take(taker, i, c, z, slice, error_of(p))
                         : volume_write(&p->result[i], c, slice, error_of(p));
}

/* Slices from FIRST to END, in which nothing is predicted. */
static UnetStatus write_nothing(const Passage *p, int32_t first, int32_t end) {
    const UnetModel *model = p->prediction->driver->model;
    UnetStatus status = UNET_OK;
    for (int32_t z = first; z < end; z++)
        for (int i = 0; i < model->noutput; i++) {
            const bool one = model->outputs[i].kind == UNET_LABELS || predicts_regions(p->prediction, i);
            const int32_t channels = one ? 1 : p->prediction->program->outputs[i].channels;
            for (int32_t c = 0; c < channels && status == UNET_OK; c++)
                status = pass_on(p, i, c, z, NULL);
        }
    return status;
}

static UnetStatus write_slice(const Passage *p, int i, int32_t z) {
    const int32_t channels = p->sums[i].channels;
    const float *mean = slice_at(p, p->sums[i].sum, channels, z, 0);
    UnetStatus status = UNET_OK;
    divide_slice(p, i, z);
    if (predicts_regions(p->prediction, i)) {
        for (size_t k = 0; k < p->plane; k++)
            p->points[k] = region_at(p->prediction, mean + k, p->plane);
        return pass_on(p, i, 0, p->begin[0] + z, p->points);
    }
    if (p->prediction->driver->model->outputs[i].kind == UNET_LABELS) {
        for (size_t k = 0; k < p->plane; k++)
            p->points[k] = (float)unet_class_of(mean + k, channels, (int64_t)p->plane);
        return pass_on(p, i, 0, p->begin[0] + z, p->points);
    }
    for (int32_t c = 0; c < channels && status == UNET_OK; c++)
        status = pass_on(p, i, c, p->begin[0] + z, mean + (size_t)c * p->plane);
    return status;
}

/* Slices up to END, which no window shows any more. */
static UnetStatus write_slices(Passage *p, int32_t end) {
    UnetStatus status = UNET_OK;
    for (; p->written < end && status == UNET_OK; p->written++)
        for (int i = 0; i < p->prediction->driver->model->noutput && status == UNET_OK; i++)
            status = write_slice(p, i, p->written);
    return status;
}

/* Slices up to END: of the input as they are read, of the sums zeros. */
static UnetStatus bring_slices(Passage *p, int32_t end) {
    UnetStatus status = UNET_OK;
    while (p->read < end && status == UNET_OK) {
        for (int i = 0; i < p->prediction->driver->model->noutput; i++) {
            const int32_t channels = p->sums[i].channels;
            memset(slice_at(p, p->sums[i].sum, channels, p->read, 0), 0,
                   (size_t)channels * p->plane * sizeof(float));
        }
        status = read_slice(p);
    }
    return status;
}

/* ---- one volume ------------------------------------------------------------------------------- */

static int32_t begin_of(const Axis *axis, int32_t i) {
    return unet_window_begin(axis->size, axis->window, axis->count, i);
}

/* All windows that begin at slice Z. */
static UnetStatus compute_layer(const Passage *p, int32_t z) {
    UnetStatus status = UNET_OK;
    for (int32_t k = 0; k < p->axis[1].count * p->axis[2].count && status == UNET_OK; k++) {
        const int32_t begin[AXES] = {z, begin_of(&p->axis[1], k / p->axis[2].count),
                                     begin_of(&p->axis[2], k % p->axis[2].count)};
        status = compute_window(p, begin);
        if (p->prediction->driver->stopped_by != 0)
            break;
    }
    return status;
}

static UnetStatus pass(Passage *p) {
    const Axis *axis = &p->axis[0];
    UnetStatus status = skip_slices(p);
    if (status == UNET_OK)
        status = write_nothing(p, 0, p->begin[0]);
    for (int32_t i = 0; i < axis->count && status == UNET_OK; i++) {
        const int32_t z = begin_of(axis, i),
                      end = z + axis->window < axis->size ? z + axis->window : axis->size;
        status = bring_slices(p, end);
        if (status == UNET_OK)
            status = compute_layer(p, z);
        if (p->prediction->driver->stopped_by != 0)
            break;
        if (status == UNET_OK)
            status = write_slices(p, i + 1 < axis->count ? begin_of(axis, i + 1) : axis->size);
    }
    return status == UNET_OK && p->prediction->driver->stopped_by == 0
               ? write_nothing(p, p->begin[0] + axis->size, p->info.size[0])
               : status;
}

/* ---- before it -------------------------------------------------------------------------------- */

/* Weights are counted once, and each mirror of a window besides. */
static bool make_axis(Axis *axis, int32_t size, int32_t window, const UnetWindows *windows, int mirrors) {
    *axis = (Axis){.size = size, .window = window};
    axis->count = unet_window_count(size, window, windows->overlap);
    axis->weight = calloc((size_t)window, sizeof *axis->weight);
    axis->total = calloc((size_t)size, sizeof *axis->total);
    if (axis->weight == NULL || axis->total == NULL)
        return false;
    unet_window_weights(window, windows->gaussian, axis->weight);
    for (int32_t i = 0; i < axis->count; i++)
        for (int32_t k = 0; k < window; k++) {
            const int32_t at = begin_of(axis, i) + k;
            if (at >= 0 && at < size)
                axis->total[at] += axis->weight[k];
        }
    for (int32_t k = 0; k < size; k++)
        axis->total[k] *= (float)mirrors;
    return true;
}

/* The slices that are kept of output I; votes have two classes at least. */
static Slices slices_of(const UnetModel *model, int i) {
    const UnetOutput *output = &model->outputs[i];
    const bool votes = output->kind == UNET_LABELS && !model->predict->windows->given;
    const int32_t classes = output->classes > 0 ? output->classes : 2;
    return (Slices){.channels = votes ? classes : model->predict->outputs[i].channels, .votes = votes};
}

int64_t windows_bytes(const UnetModel *model, int32_t height, int32_t width) {
    const UnetProgram *program = model->predict;
    const int64_t slice = (int64_t)sizeof(float) * height * width;
    int64_t channels = 0;
    if (height <= program->windows->most[0] && width <= program->windows->most[1])
        return 0;
    for (int i = 0; i < model->ninput; i++)
        channels += program->inputs[i].sample_bytes > 0 ? program->inputs[i].channels : 0;
    for (int i = 0; i < model->noutput; i++)
        channels += slices_of(model, i).channels;
    return slice * channels * program->size[0];
}

/* How many windows, and what they take, before the first of them. */
static void tell_windows(const Passage *p) {
    const UnetWindows *windows = p->windows;
    const Axis *axis = p->axis;
    const int64_t bytes = windows_bytes(p->prediction->driver->model, axis[1].size, axis[2].size);
    char taken[32];
    format_bytes(taken, sizeof taken, bytes);
    if (bytes == 0 || p->prediction->taker != NULL)
        return;
    (void)fprintf(stderr,
                  "%s: %" PRId32 " x %" PRId32 " x %" PRId32 " windows of %" PRId32 " x %" PRId32
                  " x %" PRId32 " that overlap and are blended; slices take %s beside the arena",
                  p->in, axis[0].count, axis[1].count, axis[2].count, axis[0].window, axis[1].window,
                  axis[2].window, taken);
    if (windows->given && windows->most[0] > 0)
        (void)fprintf(stderr, ": `windows %" PRId32 ", %" PRId32 "` in %s has room for smaller ones",
                      windows->most[0], windows->most[1], p->prediction->driver->model->source);
    (void)fputc('\n', stderr);
}

/* The slices, in the arena or beside it. */
static UnetStatus make_slices(Passage *p) {
    const Prediction *prediction = p->prediction;
    const UnetModel *model = prediction->driver->model;
    const size_t depth = (size_t)p->axis[0].window;
    const int32_t *most = p->windows->most;
    bool good = (p->sums = calloc((size_t)model->noutput + 1, sizeof *p->sums)) != NULL;
    p->beside = p->axis[1].size > most[0] || p->axis[2].size > most[1];
    tell_windows(p);
    for (int i = 0; i < model->noutput && good; i++) {
        p->sums[i] = slices_of(model, i);
        p->sums[i].sum = p->beside ? calloc(depth * (size_t)p->sums[i].channels, p->plane * sizeof(float))
                                   : (void *)(prediction->device.arena + p->windows->sums[i]);
        good = p->sums[i].sum != NULL;
    }
    p->slices = p->beside ? calloc(depth * (size_t)p->nchannel, p->plane * sizeof(float))
                          : (void *)(prediction->device.arena + p->windows->slices);
    return good && p->slices != NULL
               ? UNET_OK
               : unet_fail(error_of(p), UNET_TOO_SMALL,
                           "no memory for %zu slices of %s, of %" PRId32 " x %" PRId32 " voxels", depth,
                           p->in, p->axis[1].size, p->axis[2].size);
}

static UnetStatus make_tables(Passage *p, const int32_t size[AXES]) {
    const UnetLayout *layout = input_layout(p);
    const size_t whole = (size_t)p->info.size[1] * (size_t)p->info.size[2];
    bool good = true;
    for (int k = 0; k < AXES; k++)
        good &= make_axis(&p->axis[k], size[k], layout->size[k], p->windows,
                          mirrors(p->windows->mirror, k) ? 2 : 1);
    p->plane = (size_t)size[1] * (size_t)size[2];
    p->slice = malloc(whole * sizeof(float));
    p->points = malloc(p->plane * sizeof *p->points);
    if (memcmp(size, p->info.size, sizeof p->info.size) != 0) {
        p->whole = malloc(whole * sizeof *p->whole);
        good &= p->whole != NULL;
    }
    p->nowhere = malloc((size_t)layout->size[2] * sizeof *p->nowhere);
    for (int32_t x = 0; p->nowhere != NULL && x < layout->size[2]; x++)
        p->nowhere[x] = -1;
    return good && p->slice != NULL && p->points != NULL && p->nowhere != NULL
               ? UNET_OK
               : unet_fail(error_of(p), UNET_TOO_SMALL, "no memory for a slice of %s", p->in);
}

static UnetStatus open_channel(Passage *p, int32_t c) {
    const UnetSampling sampling = volume_sampling(p->prediction);
    char path[UNET_PATH_BYTES], why[200];
    UnetStatus status = volume_channel(p->prediction, p->in, c, path);
    if (status == UNET_OK)
        status = unet_sampled_open(&p->reader[c], path, &sampling, error_of(p));
    if (status != UNET_OK)
        return status;
    p->nchannel++;
    const UnetVolumeInfo *info = unet_sampled_info(p->reader[c]);
    if (c == 0)
        p->info = *info;
    if (!unet_volume_same_grid(&p->info, info, why))
        return unet_fail(error_of(p), UNET_IO, "%s does not lie where %s does: %s", path, p->in, why);
    return UNET_OK;
}

/* Finds the numbers that normalise the voxels, and the box that is predicted.  If either is asked of all
 * voxels, the files are read once before. */
static UnetStatus look_through(Passage *p, int32_t size[AXES]) {
    const UnetModel *model = p->prediction->driver->model;
    const bool reads = model->trims || unet_normal_is_each(normalizing_of(p->prediction));
    const UnetSampling sampling = volume_sampling(p->prediction);
    UnetStatus status = UNET_OK;
    for (int32_t c = 0; reads && c < p->nchannel && status == UNET_OK; c++) {
        char path[UNET_PATH_BYTES];
        status = volume_channel(p->prediction, p->in, c, path);
        if (status == UNET_OK)
            status = unet_voxels_survey(&p->seen[c], path, &sampling, error_of(p));
    }
    if (status != UNET_OK)
        return status;
    p->normal = volume_normal(p->prediction, p->seen, p->nchannel, &p->each);
    volume_fill(p->prediction, p->normal, p->fill);
    memcpy(size, p->info.size, AXES * sizeof *size);
    if (model->trims)
        volume_trim(p->seen, p->nchannel, p->begin, size);
    return UNET_OK;
}

static UnetStatus open_volume(Passage *p) {
    int32_t size[AXES] = {1, 1, 1};
    UnetStatus status = prediction_check_volume_size(p->prediction, p->in);
    for (int32_t c = 0; c < input_layout(p)->channels && status == UNET_OK; c++)
        status = open_channel(p, c);
    if (status == UNET_OK)
        status = look_through(p, size);
    if (status == UNET_OK)
        status = make_tables(p, size);
    if (status == UNET_OK)
        status = make_slices(p);
    const int files = p->prediction->taker == NULL ? p->prediction->driver->model->noutput : 0;
    for (int i = 0; i < files && status == UNET_OK; i++)
        status = volume_create(p->prediction, p->in, i, unet_sampled_source(p->reader[0]), p->info.size,
                               &p->result[i]);
    return status;
}

static void close_volume(Passage *p) {
    for (int32_t c = 0; c < p->nchannel; c++) {
        unet_sampled_close(p->reader[c]);
        unet_voxels_close(&p->seen[c]);
    }
    for (int k = 0; k < AXES; k++) {
        free(p->axis[k].weight);
        free(p->axis[k].total);
    }
    for (int i = 0; p->beside && p->sums != NULL && i < p->prediction->driver->model->noutput; i++)
        free(p->sums[i].sum);
    if (p->beside)
        free(p->slices);
    free(p->sums);
    free(p->slice);
    free(p->points);
    free(p->whole);
    free(p->nowhere);
    free(p->result);
}

UnetStatus predict_windows(Prediction *prediction, const char *in) {
    const UnetModel *model = prediction->driver->model;
    Passage p = {.prediction = prediction, .windows = prediction->program->windows, .in = in};
    const UnetStep step = {.arena = prediction->device.arena,
                           .inputs = prediction->inputs,
                           .n = 1,
                           .threads = prediction->driver->threads,
                           .bands = 1};
    p.result = calloc((size_t)model->noutput + 1, sizeof *p.result);
    UnetStatus status = p.result != NULL
                            ? open_volume(&p)
                            : unet_fail(error_of(&p), UNET_TOO_SMALL, "no memory for the results");
    device_prepare(&prediction->device, prediction->program, &step);
    if (status == UNET_OK)
        status = pass(&p);
    if (p.strange > 0)
        (void)fprintf(stderr, "%s: %" PRId64 " voxels are not finite, and count as 0\n", in, p.strange);
    if (p.result != NULL && prediction->taker == NULL)
        status = volumes_end(prediction, in, p.result, status);
    close_volume(&p);
    return status;
}
