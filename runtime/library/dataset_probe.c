/* dataset_probe.c - reads the header of every file: whether it can be read, whether its size fits the
 * window and its partners.
 *
 * Requires: the samples, and how fine the files of each source are.  Provides: the size of each sample and
 * the bytes of its files; UnetDataset.decoder_bytes.  Samples with a problem are left out where somebody
 * listens.
 */
#include "dataset_parts.h"
#include "size_math.h"
#include "unet/resize.h"
#include "warp.h"
#include "window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the bytes that a decoder takes for one file: its state and windows, a buffer of the file, a few
 * rows, the rows that it holds at once (all rows of an interlaced image), and the bytes of resizing. */
static size_t decoder_bytes(const UnetImageInfo *info) {
    const size_t channels = info->channels > 4 ? (size_t)info->channels : 4;
    const size_t number = (size_t)info->bits / 8, row = (size_t)info->own[1] * channels * number;
    const UnetResizeShape resize = {{info->own[0], info->own[1]},
                                    {info->height, info->width},
                                    .channels = (int32_t)channels,
                                    .bits = info->bits};
    const bool resized = info->own[0] != info->height || info->own[1] != info->width;
    return 96 * 1024 + 4 * row + row * (size_t)(info->interlaced ? info->own[0] : info->held_rows) +
           (resized ? unet_resize_bytes(&resize) + (size_t)info->width * channels * number : 0);
}

static void note_traits(FileSeries *series, const char *path, const UnetImageInfo *info) {
    const char *slash = strrchr(path, '/');
    for (int trait = 0; trait < UNET_IMAGE_TRAITS; trait++) {
        if ((info->traits >> trait & 1) != 0 && series->with[trait]++ == 0) {
            (void)snprintf(series->with_name[trait], sizeof series->with_name[trait], "%.255s",
                           slash != NULL ? slash + 1 : path);
        }
    }
}

/* Reads a header; what the file takes decoded is added to *DECODED. */
static UnetStatus probe(FileSeries *series, const char *path, UnetImageInfo *info, size_t *decoded,
                        UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open_as(NULL, &series->way, &reader, path, series->channels, error);
    if (reader == NULL) {
        return status;
    }
    UnetRowFormat format = unet_image_format(reader);
    size_t bytes;
    *info = unet_image_info(reader);
    series->highest = info->height > series->highest ? info->height : series->highest;
    series->widest = unet_row_bytes(&format) > series->widest ? unet_row_bytes(&format) : series->widest;
    series->files++;
    note_traits(series, path, info);
    status = unet_image_check_end(reader, error);
    unet_image_close(reader);
    if (!checked_mul(unet_row_bytes(&format), (size_t)info->height, &bytes) ||
        !checked_add(*decoded, bytes, decoded)) {
        return unet_fail(error, UNET_IO, "%s: too large", path);
    }
    return status;
}

/* Returns whether evaluation can measure a sample whose window shows SHOWN points of the coarsest file. */
static bool can_measure(const UnetDataset *dataset, const int32_t shown[2]) {
    return dataset->program->measured[1] > 0 && dataset_valid(dataset, 0, shown[0]) > 0 &&
           dataset_valid(dataset, 1, shown[1]) > 0;
}

bool dataset_pads(const UnetDataset *dataset, const Sample *sample) {
    const UnetTransform *crop = window_crop(dataset->transform, dataset->ntransform);
    int32_t least[WINDOW_AXES] = {0, 0, sample->size[2]};
    bool smaller = false;
    if (dataset->purpose != UNET_TRAINING || crop == NULL || crop->pad != UNET_PAD_NONE) {
        return false;
    }
    if (dataset->volumes) {
        memcpy(least, sample->size, sizeof least);
    } else {
        warp_least_size(dataset->transform, dataset->ntransform, sample->size, least);
    }
    for (int axis = 0; axis < WINDOW_AXES; axis++) {
        smaller |= least[axis] < dataset->base[axis];
    }
    return smaller;
}

static const char *size_text(const UnetDataset *dataset, int64_t height, int64_t width,
                             char text[UNET_SIZE_TEXT]) {
    return unet_size_text(dataset->model->inputs[0].kind, height, width, text);
}

/* Behind sizes: which axes they are of. */
static const char *axes_text(const UnetDataset *dataset) {
    return dataset->model->inputs[0].kind == UNET_SIGNAL ? "" : " (height x width)";
}

/* Whether a file of this size, with so many points for one of the coarsest file, can fill the window. */
static UnetStatus check_size(const UnetDataset *dataset, const char *path, const int32_t size[2],
                             int32_t multiple, UnetError *error) {
    const int32_t window[2] = {dataset->base[0] * multiple, dataset->base[1] * multiple};
    const int32_t shown[2] = {(size[0] < window[0] ? size[0] : window[0]) / multiple,
                              (size[1] < window[1] ? size[1] : window[1]) / multiple};
    const UnetTransform *crop = window_crop(dataset->transform, dataset->ntransform);
    bool smaller = size[0] < window[0] || size[1] < window[1];
    bool larger = size[0] > window[0] || size[1] > window[1];
    bool training = dataset->purpose == UNET_TRAINING;
    char text[2][UNET_SIZE_TEXT];
    if (crop == NULL && (larger || (smaller && training))) {
        return unet_fail(error, UNET_IO, "%s is %s, and without `crop` it must be %s%s", path,
                         size_text(dataset, size[0], size[1], text[0]),
                         size_text(dataset, window[0], window[1], text[1]), axes_text(dataset));
    }
    if (smaller && !training && !can_measure(dataset, shown)) {
        return unet_fail(error, UNET_IO,
                         "%s is %s, smaller than the window of %s%s, and too small for the losses and "
                         "metrics of this model",
                         path, size_text(dataset, size[0], size[1], text[0]),
                         size_text(dataset, window[0], window[1], text[1]), axes_text(dataset));
    }
    return UNET_OK;
}

/* Takes the size of the first file as the size of the sample. */
static UnetStatus settle_size(const UnetDataset *dataset, const char *path, const UnetImageInfo *info,
                              Sample *sample, UnetError *error) {
    const int32_t size[2] = {info->height, info->width};
    int32_t multiple = dataset->scale[dataset->series[0].source].multiple;
    sample->size[0] = size[0] / multiple;
    sample->size[1] = size[1] / multiple;
    sample->size[2] = 1;
    if (size[0] % multiple != 0 || size[1] % multiple != 0) {
        return unet_fail(
            error, UNET_IO,
            "%s is %d x %d (height x width), and must be a multiple of %d x %d: its partner has "
            "%d times fewer points along each axis",
            path, size[0], size[1], multiple, multiple, multiple);
    }
    return check_size(dataset, path, size, multiple, error);
}

/* Does INFO, or the first file, lie on its side by EXIF, so that turning it would make both of one size? */
static bool lies_on_its_side(const UnetDataset *dataset, const UnetImageInfo *info, int64_t height,
                             int64_t width) {
    bool turned = (info->traits & UNET_IMAGE_TURNED) != 0;
    for (int trait = 0; trait < UNET_IMAGE_TRAITS; trait++) {
        turned |= 1 << trait == UNET_IMAGE_TURNED && dataset->series[0].with[trait] > 0;
    }
    return turned && info->height == width && info->width == height;
}

/* Every other file has to show the same picture as the first. */
static UnetStatus compare_size(const UnetDataset *dataset, int32_t series, const char *path,
                               const UnetImageInfo *info, const char *first, const Sample *sample,
                               UnetError *error) {
    int32_t multiple = dataset->scale[dataset->series[series].source].multiple;
    int32_t of_first = dataset->scale[dataset->series[0].source].multiple;
    const int64_t height = (int64_t)sample->size[0] * multiple, width = (int64_t)sample->size[1] * multiple;
    if (info->height == height && info->width == width) {
        return UNET_OK;
    }
    if (multiple == of_first) {
        char text[2][UNET_SIZE_TEXT];
        const UnetStatus status =
            unet_fail(error, UNET_IO, "%.300s is %s, and its partner %.300s is %s%s", path,
                      size_text(dataset, info->height, info->width, text[0]), first,
                      size_text(dataset, sample->size[0] * of_first, sample->size[1] * of_first, text[1]),
                      axes_text(dataset));
        if (lies_on_its_side(dataset, info, height, width)) {
            unet_fail_more(error,
                           "; one of them lies on its side: `exif = true` in `images(...)` turns it");
        }
        return status;
    }
    return unet_fail(error, UNET_IO,
                     "%.300s is %d x %d, and its partner %.300s is %d x %d (height x width): the model's "
                     "sizes ask for %lld x %lld",
                     path, info->height, info->width, first, sample->size[0] * of_first,
                     sample->size[1] * of_first, (long long)height, (long long)width);
}

/* Whether A and B, height and width, show one picture, but for the rounding of sizes. */
static bool has_proportions(const int32_t a[2], const int32_t b[2]) {
    const int64_t away = (int64_t)b[0] * a[1] - (int64_t)a[0] * b[1];
    const int64_t of_a = (int64_t)a[0] + a[1], of_b = (int64_t)b[0] + b[1];
    return llabs(away) <= (of_a > of_b ? of_a : of_b);
}

/* Files of different pictures have one size, too, once they are resized; their proportions tell. */
static UnetStatus compare_proportions(const char *path, const UnetImageInfo *info, const char *first,
                                      const UnetImageInfo *of_first, UnetError *error) {
    const bool turned = ((info->traits | of_first->traits) & UNET_IMAGE_TURNED) != 0;
    if (has_proportions(of_first->own, info->own)) {
        return UNET_OK;
    }
    if (turned && has_proportions(of_first->own, (const int32_t[]){info->own[1], info->own[0]})) {
        return unet_fail(
            error, UNET_IO,
            "%.300s is %d x %d, and its partner %.300s is %d x %d (height x width); one of them "
            "lies on its side: `exif = true` in `images(...)` turns it",
            path, info->own[0], info->own[1], first, of_first->own[0], of_first->own[1]);
    }
    return unet_fail(error, UNET_IO,
                     "%.300s is %d x %d, and its partner %.300s is %d x %d (height x width), which are "
                     "other proportions: `resize` would draw one of them out of shape",
                     path, info->own[0], info->own[1], first, of_first->own[0], of_first->own[1]);
}

/* Without --staging, files keep the bits that their names promise; checks that they do. */
static UnetStatus check_bits(const UnetDataset *dataset, const FileSeries *series, const char *path,
                             const UnetImageInfo *info, UnetError *error) {
    const int32_t input = dataset->source[series->source].input;
    const UnetType type = input < 0 ? UNET_F32 : dataset->program->inputs[input].type;
    const int32_t most = type == UNET_UNORM8 ? 8 : type == UNET_UNORM16 ? 16 : info->bits;
    if (!dataset->model->stages_as_files || info->bits <= most) {
        return UNET_OK;
    }
    return unet_fail(
        error, UNET_IO,
        "%.300s holds %s, and %s is compiled for %d bits, which the names of its files promise: "
        "compile with --staging=%s",
        path, info->bits == 32 ? "floats" : "16 bits", dataset->model->inputs[input].name, (int)most,
        info->bits == 32 ? "f32" : "u16");
}

/* The first file that is a signal; a rate of 0: none was yet. */
typedef struct {
    int32_t rate;
    char path[UNET_PATH_BYTES];
} FirstSignal;

/* A network that learns of one rate knows no other: all signals of a data set have the same. */
static UnetStatus check_rate(FirstSignal *first, const char *path, const UnetImageInfo *info,
                             UnetError *error) {
    if (info->rate == 0 || info->rate == first->rate) {
        return UNET_OK;
    }
    if (first->rate == 0) {
        first->rate = info->rate;
        (void)snprintf(first->path, sizeof first->path, "%s", path);
        return UNET_OK;
    }
    return unet_fail(
        error, UNET_IO,
        "%.300s has %d frames per second, and %.300s has %d: resample one of them with: sox FILE "
        "-r %d OUT",
        path, (int)info->rate, first->path, (int)first->rate, (int)first->rate);
}

static UnetStatus probe_sample(UnetDataset *dataset, FirstSignal *signal, Sample *sample,
                               UnetError *error) {
    char path[UNET_PATH_BYTES], first[UNET_PATH_BYTES];
    UnetImageInfo of_first = {0};
    size_t decoders = 0;
    for (int32_t i = 0; i < dataset->nseries; i++) {
        UnetImageInfo info = {0};
        char *where = i == 0 ? first : path;
        UnetStatus status = dataset_path(dataset, &dataset->series[i], sample, where, error);
        if (status == UNET_OK) {
            status = probe(&dataset->series[i], where, &info, &sample->file_bytes, error);
        }
        if (status == UNET_OK) {
            status = check_bits(dataset, &dataset->series[i], where, &info, error);
        }
        if (status == UNET_OK) {
            status = check_rate(signal, where, &info, error);
        }
        if (status != UNET_OK) {
            return status;
        }
        if (i == 0) {
            of_first = info;
        } else if (dataset->series[i].way.fit != UNET_FIT_NONE) {
            status = compare_proportions(where, &info, first, &of_first, error);
        }
        if (status == UNET_OK) {
            status = i == 0 ? settle_size(dataset, where, &info, sample, error)
                            : compare_size(dataset, i, where, &info, first, sample, error);
        }
        if (status != UNET_OK) {
            return status;
        }
        decoders += decoder_bytes(&info);
    }
    dataset->decoder_bytes = decoders > dataset->decoder_bytes ? decoders : dataset->decoder_bytes;
    return UNET_OK;
}

UnetStatus dataset_probe(UnetDataset *dataset, Listener *listener, UnetError *error) {
    int32_t kept = 0;
    FirstSignal signal = {.rate = 0};
    for (int32_t i = 0; i < dataset->nsample; i++) {
        Sample sample = dataset->sample[i];
        UnetStatus status = dataset->volumes ? dataset_probe_volumes(dataset, &sample, error)
                                             : probe_sample(dataset, &signal, &sample, error);
        if (status == UNET_OK) {
            dataset->sample[kept++] = sample;
            continue;
        }
        status = dataset_problem(listener, status, error);
        if (status != UNET_OK) {
            dataset->nsample = kept; /* series that are open */
            return status;
        }
    }
    dataset->nsample = kept;
    return UNET_OK;
}

/* Returns the type that pictures of SERIES become: the type of their input, or, if their source fills none,
 * of the first input. */
static UnetType stored_type(const UnetDataset *dataset, const FileSeries *series) {
    const int32_t input = dataset->source[series->source].input;
    return dataset->program->inputs[input < 0 ? 0 : input].type;
}

/* Says how many samples are padded though nothing was said of that. */
static void note_padded(const UnetDataset *dataset, UnetNote *note, void *context) {
    const int32_t *window = dataset->program->size;
    char text[1024], depth[24] = "", size[UNET_SIZE_TEXT];
    int32_t padded = 0, first = -1;
    for (int32_t s = 0; s < dataset->nsample; s++) {
        if (dataset_pads(dataset, &dataset->sample[s])) {
            first = padded++ == 0 ? s : first;
        }
    }
    if (padded == 0) {
        return;
    }
    if (dataset->volumes) {
        (void)snprintf(depth, sizeof depth, "%d x ", window[0]);
    }
    (void)snprintf(text, sizeof text,
                   "%d of %d samples, such as %.200s, can be smaller than the window of %s%s: they are "
                   "padded by %s, and labels there count nowhere (`crop pad = ...` says otherwise)",
                   padded, dataset->nsample, unet_dataset_stem(dataset, first), depth,
                   size_text(dataset, window[1], window[2], size),
                   dataset->volumes ? "the mean" : "reflection");
    note(context, text);
}

static void note_left_out(const UnetDataset *dataset, const FileSeries *series, UnetNote *note,
                          void *context) {
    static const char *const why[LEFT_REASONS] = {
        [LEFT_CASE] = "would match but for upper and lower case",
        [LEFT_ENDING] =
            "would match but for the ending; `*.{jpg,png}` takes both, and a `*` at the end any",
        [LEFT_OTHER] = "leaves them to the pattern of another source, which says more of their names"};
    char text[1024];
    for (int reason = 0; reason < LEFT_REASONS; reason++) {
        const int32_t left = series->left[reason];
        if (left > 0) {
            (void)snprintf(text, sizeof text,
                           "%.100s: %d of %d files %s not read, such as %s: \"%.200s\"%s %s",
                           dataset->source[series->source].name, (int)left, (int)(series->found + left),
                           left == 1 ? "is" : "are", series->left_name[reason], series->pattern,
                           series->more != NULL ? " and others" : "", why[reason]);
            note(context, text);
        }
    }
}

void unet_dataset_notes(const UnetDataset *dataset, UnetNote *note, void *context) {
    char text[1024];
    note_padded(dataset, note, context);
    for (int32_t i = 0; i < dataset->nseries; i++) {
        const FileSeries *series = &dataset->series[i];
        if (series->strange > 0) {
            (void)snprintf(text, sizeof text,
                           "%.100s: warning: %lld voxels of \"%.200s\"%s are not finite, and count as 0",
                           dataset->source[series->source].name, (long long)series->strange,
                           series->pattern, series->more != NULL ? " and others" : "");
            note(context, text);
        }
        if (series->rounded > 0) {
            (void)snprintf(
                text, sizeof text,
                "%.100s: %lld voxels of \"%.200s\"%s are no whole numbers, and count as the nearest",
                dataset->source[series->source].name, (long long)series->rounded, series->pattern,
                series->more != NULL ? " and others" : "");
            note(context, text);
        }
        note_left_out(dataset, series, note, context);
        for (int trait = 0; trait < UNET_IMAGE_TRAITS; trait++) {
            if (series->with[trait] > 0) {
                const bool some = series->with[trait] < series->files;
                (void)snprintf(text, sizeof text, "%.100s: %d of %d files of \"%.200s\"%s%s%s: %s",
                               dataset->source[series->source].name, series->with[trait], series->files,
                               series->pattern, series->more != NULL ? " and others" : "",
                               some ? ", such as " : "", some ? series->with_name[trait] : "",
                               unet_image_trait(trait, stored_type(dataset, series)));
                note(context, text);
            }
        }
    }
}

void unet_dataset_picture_size(const UnetDataset *dataset, int32_t sample, int32_t size[2]) {
    for (int axis = 0; axis < 2; axis++) {
        size[axis] =
            dataset->sample[sample].size[axis] * (dataset->program->size[axis + 1] / dataset->base[axis]);
    }
}
