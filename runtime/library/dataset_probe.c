/* dataset_probe.c - reads the header of every file: whether it can be read, whether its size fits the
 * window and those of its partners.
 *
 * Requires: the samples, and how fine the files of each source are.  Provides: the size of each sample and
 * the bytes of its files; UnetDataset.decoder_bytes.  Samples with a problem are left out where somebody
 * listens.
 */
#include "dataset_parts.h"
#include "size_math.h"
#include "warp.h"
#include "window.h"

#include <stdio.h>
#include <string.h>

/* What a decoder takes for one file: its state and windows, a buffer of the file, a few rows, and those
 * that it holds at once, all of an interlaced image. */
static size_t decoder_bytes(const UnetImageInfo *info) {
    size_t row = (size_t)info->width * 4 * (size_t)(info->bits / 8);
    return 96 * 1024 + 4 * row + row * (size_t)(info->interlaced ? info->height : info->held_rows);
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
    UnetStatus status = unet_image_open(&reader, path, series->channels, error);
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

/* Whether evaluation can measure a sample of which the window shows SHOWN points of the coarsest file. */
static bool can_measure(const UnetDataset *dataset, const int32_t shown[2]) {
    return dataset->program->measured[1] > 0 && dataset_valid(dataset, 0, shown[0]) > 0 &&
           dataset_valid(dataset, 1, shown[1]) > 0;
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
    if (crop == NULL && (larger || (smaller && training))) {
        return unet_fail(error, UNET_IO,
                         "%s is %d x %d, and without `crop` it must be %d x %d (height x width)", path,
                         size[0], size[1], window[0], window[1]);
    }
    if (training && crop != NULL && crop->pad == UNET_PAD_NONE) {
        int32_t least[2];
        warp_least_size(dataset->transform, dataset->ntransform, size, least);
        if (!smaller && (least[0] < window[0] || least[1] < window[1])) {
            return unet_fail(
                error, UNET_IO,
                "%s is %d x %d (height x width), can become %d x %d before it is cut to %d x %d, "
                "and `crop` has no `pad`",
                path, size[0], size[1], least[0], least[1], window[0], window[1]);
        }
    }
    if (smaller && training && crop->pad == UNET_PAD_NONE) {
        return unet_fail(
            error, UNET_IO,
            "%s is %d x %d, smaller than the window of %d x %d (height x width), and `crop` has no `pad`",
            path, size[0], size[1], window[0], window[1]);
    }
    if (smaller && !training && !can_measure(dataset, shown)) {
        return unet_fail(
            error, UNET_IO,
            "%s is %d x %d, smaller than the window of %d x %d (height x width), and too small "
            "for the losses and metrics of this model",
            path, size[0], size[1], window[0], window[1]);
    }
    return UNET_OK;
}

/* The size of the first file settles that of the sample. */
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
        return unet_fail(
            error, UNET_IO, "%.400s is %d x %d, and its partner %.400s is %d x %d (height x width)", path,
            info->height, info->width, first, sample->size[0] * of_first, sample->size[1] * of_first);
    }
    return unet_fail(error, UNET_IO,
                     "%.300s is %d x %d, and its partner %.300s is %d x %d (height x width): the model's "
                     "sizes ask for %lld x %lld",
                     path, info->height, info->width, first, sample->size[0] * of_first,
                     sample->size[1] * of_first, (long long)height, (long long)width);
}

static UnetStatus probe_sample(UnetDataset *dataset, Sample *sample, UnetError *error) {
    char path[UNET_PATH_BYTES], first[UNET_PATH_BYTES];
    size_t decoders = 0;
    for (int32_t i = 0; i < dataset->nseries; i++) {
        UnetImageInfo info = {0};
        char *where = i == 0 ? first : path;
        UnetStatus status = dataset_path(dataset, &dataset->series[i], sample, where, error);
        if (status == UNET_OK) {
            status = probe(&dataset->series[i], where, &info, &sample->file_bytes, error);
        }
        if (status != UNET_OK) {
            return status;
        }
        status = i == 0 ? settle_size(dataset, where, &info, sample, error)
                        : compare_size(dataset, i, where, &info, first, sample, error);
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
    for (int32_t i = 0; i < dataset->nsample; i++) {
        Sample sample = dataset->sample[i];
        UnetStatus status = dataset->volumes ? dataset_probe_volumes(dataset, &sample, error)
                                             : probe_sample(dataset, &sample, error);
        if (status == UNET_OK) {
            dataset->sample[kept++] = sample;
            continue;
        }
        status = dataset_problem(listener, status, error);
        if (status != UNET_OK) {
            dataset->nsample = kept; /* those that are open */
            return status;
        }
    }
    dataset->nsample = kept;
    return UNET_OK;
}

/* What pictures of SERIES become; where their source fills no input itself, what the first input is. */
static UnetType stored_type(const UnetDataset *dataset, const FileSeries *series) {
    const int32_t input = dataset->source[series->source].input;
    return dataset->program->inputs[input < 0 ? 0 : input].type;
}

void unet_dataset_notes(const UnetDataset *dataset, UnetProblemReport *note, void *context) {
    char text[1024];
    for (int32_t i = 0; i < dataset->nseries; i++) {
        const FileSeries *series = &dataset->series[i];
        if (series->strange > 0) {
            (void)snprintf(text, sizeof text,
                           "%.100s: warning: %lld voxels of \"%.200s\"%s are not finite, and count as 0",
                           dataset->source[series->source].name, (long long)series->strange,
                           series->pattern, series->more != NULL ? " and others" : "");
            note(context, text);
        }
        if (series->other_case > 0) {
            (void)snprintf(
                text, sizeof text,
                "%.100s: %d file%s not read, such as %s: \"%.200s\"%s would match %s but for upper and "
                "lower case",
                dataset->source[series->source].name, series->other_case,
                series->other_case == 1 ? " is" : "s are", series->other_name, series->pattern,
                series->more != NULL ? " and others" : "", series->other_case == 1 ? "it" : "them");
            note(context, text);
        }
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
