/* resample_volume.c - volumes read from files on a grid of another spacing (unet/resample.h). */
#include "unet/resample.h"
#include "unet/voxels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3, PIXDIM = 76, DIM = 40 }; /* where header fields begin */

static const int64_t most_voxels = INT64_C(1) << 31;

struct UnetSampledVolume {
    UnetVolumeReader *reader;
    UnetVolumeInfo info;
    UnetResampler *resampler; /* NULL: the grids are one */
    void *stored;             /* a slice as the file has it, */
    float *slice;             /*   its floats, */
    float *made;              /*   and a slice of the new grid */
    int32_t read, given;      /* slices */
    UnetSeeRow *see;          /* or NULL */
    void *context;            /*   of it */
};

/* ---- the new grid ----------------------------------------------------------------------------- */

/* Widths of voxels that the header has, of axes that it has: elsewhere they are taken for 1. */
static UnetStatus check_widths(const UnetVolumeInfo *info, const char *path, UnetError *error) {
    float width[AXES];
    int16_t axes;
    memcpy(width, info->header + PIXDIM + sizeof(float), sizeof width);
    memcpy(&axes, info->header + DIM, sizeof axes);
    for (int i = 0; i < AXES && i < axes; i++) {
        if (!(isfinite(width[i]) && width[i] > 0)) {
            return unet_fail(
                error, UNET_IO,
                "%s: its header says that voxels are %g wide along %c, and `spacing` needs a number "
                "above 0: correct pixdim[%d]",
                path, (double)width[i], "xyz"[i], i + 1);
        }
    }
    return UNET_OK;
}

/* To a thousandth first: files of one sample may differ in the last digits of their widths, about a half.
 */
static double voxels_at(double width, double spacing, int32_t voxels) {
    return rint(rint(width / spacing * voxels * 1000) / 1000);
}

static UnetStatus new_size(const UnetVolumeInfo *info, const double spacing[AXES], const char *path,
                           int32_t size[AXES], UnetError *error) {
    double wanted[AXES], voxels = 1;
    bool good = true;
    for (int i = 0; i < AXES; i++) {
        wanted[i] = voxels_at(info->spacing[i], spacing[i], info->size[i]);
        good &= wanted[i] >= 1 && wanted[i] <= INT16_MAX;
        voxels *= wanted[i];
    }
    if (!good || voxels > (double)most_voxels) {
        return unet_fail(
            error, UNET_IO,
            "%s: %" PRId32 " x %" PRId32 " x %" PRId32 " voxels of %g x %g x %g mm (depth first) "
            "become %g x %g x %g at the spacing %g x %g x %g: an axis has 1 to %d voxels, and a "
            "volume at most 2^31",
            path, info->size[0], info->size[1], info->size[2], info->spacing[0], info->spacing[1],
            info->spacing[2], wanted[0], wanted[1], wanted[2], spacing[0], spacing[1], spacing[2],
            INT16_MAX);
    }
    for (int i = 0; i < AXES; i++) {
        size[i] = (int32_t)wanted[i];
    }
    return UNET_OK;
}

/* The axis along which voxels are more than three times as wide as along the finest, if there is one alone;
 * -1: voxels are no such slices; -2: they are, and two axes are as coarse. */
static int coarse_axis(const double spacing[AXES]) {
    int finest = 0, coarsest = 0, as_coarse = 0;
    for (int i = 1; i < AXES; i++) {
        finest = spacing[i] < spacing[finest] ? i : finest;
        coarsest = spacing[i] > spacing[coarsest] ? i : coarsest;
    }
    for (int i = 0; i < AXES; i++) {
        as_coarse += spacing[i] >= spacing[coarsest];
    }
    return !(spacing[coarsest] > 3 * spacing[finest]) ? -1 : as_coarse > 1 ? -2 : coarsest;
}

static void choose_axes(const UnetVolumeInfo *source, const UnetSampling *sampling,
                        UnetInterpolation how[AXES]) {
    const int of_file = coarse_axis(source->spacing),
              nearest = of_file == -1 ? coarse_axis(sampling->spacing) : of_file;
    for (int i = 0; i < AXES; i++) {
        how[i] = sampling->how == UNET_CUBIC && i == nearest ? UNET_NEAREST : sampling->how;
    }
}

/* Places the new voxels: the corners of the volume stay. */
static void place_grid(UnetVolumeInfo *info, const int32_t size[AXES]) {
    for (int i = 0; i < AXES; i++) {
        const double step = (double)info->size[i] / size[i];
        const int column = AXES - 1 - i; /* of the affine: x, y, z */
        for (int row = 0; row < AXES; row++) {
            info->affine[row][AXES] += info->affine[row][column] * (step - 1) / 2;
            info->affine[row][column] *= step;
        }
        info->spacing[i] *= step;
        info->size[i] = size[i];
    }
}

/* ---- opening ---------------------------------------------------------------------------------- */

static size_t points_of(const UnetVolumeInfo *info) {
    return (size_t)info->size[1] * (size_t)info->size[2];
}

static UnetStatus make_grid(UnetSampledVolume *volume, const UnetSampling *sampling, const char *path,
                            UnetError *error) {
    const UnetVolumeInfo *source = unet_volume_info(volume->reader);
    int32_t size[AXES] = {1, 1, 1};
    UnetInterpolation how[AXES];
    UnetStatus status = check_widths(source, path, error);
    if (status == UNET_OK) {
        status = new_size(source, sampling->spacing, path, size, error);
    }
    if (status != UNET_OK || memcmp(size, source->size, sizeof size) == 0) {
        return status;
    }
    place_grid(&volume->info, size);
    volume->info.type = sampling->how == UNET_NEAREST ? source->type : UNET_VOXEL_F32;
    choose_axes(source, sampling, how);
    volume->resampler = unet_resampler_new(source->size, size, how);
    volume->stored = malloc(points_of(source) * unet_voxel_bytes(source->type));
    volume->made = malloc(points_of(&volume->info) * sizeof(float));
    return volume->resampler != NULL && volume->stored != NULL && volume->made != NULL
               ? UNET_OK
               : unet_fail(error, UNET_TOO_SMALL, "%s: not enough memory for its slices", path);
}

UnetStatus unet_sampled_open(UnetSampledVolume **volume, const char *path, const UnetSampling *sampling,
                             UnetError *error) {
    UnetSampledVolume *made = *volume = calloc(1, sizeof *made);
    if (made == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    UnetStatus status = unet_volume_open(&made->reader, path, error);
    if (status == UNET_OK) {
        made->info = *unet_volume_info(made->reader);
        made->slice = malloc(points_of(&made->info) * sizeof(float));
        status = made->slice != NULL
                     ? UNET_OK
                     : unet_fail(error, UNET_TOO_SMALL, "%s: not enough memory for its slices", path);
    }
    if (status == UNET_OK && sampling != NULL && sampling->spacing[0] > 0) {
        status = make_grid(made, sampling, path, error);
    }
    if (status != UNET_OK) {
        unet_sampled_close(made);
        *volume = NULL;
    }
    return status;
}

const UnetVolumeInfo *unet_sampled_info(const UnetSampledVolume *volume) {
    return &volume->info;
}

const UnetVolumeInfo *unet_sampled_source(const UnetSampledVolume *volume) {
    return unet_volume_info(volume->reader);
}

void unet_sampled_close(UnetSampledVolume *volume) {
    if (volume != NULL) {
        unet_volume_close(volume->reader);
        unet_resampler_free(volume->resampler);
        free(volume->stored);
        free(volume->slice);
        free(volume->made);
    }
    free(volume);
}

/* ---- reading ---------------------------------------------------------------------------------- */

void unet_sampled_watch(UnetSampledVolume *volume, UnetSeeRow *see, void *context) {
    volume->see = see;
    volume->context = context;
}

/* The next slice of the file to STORED, and in floats, which are seen. */
static UnetStatus read_source(UnetSampledVolume *volume, void *stored, int64_t *strange, UnetError *error) {
    const UnetVolumeInfo *source = unet_volume_info(volume->reader);
    const UnetVoxels one = {.info = *source, .voxel = stored};
    UnetStatus status = unet_volume_read_slice(volume->reader, stored, strange, error);
    const bool wanted = volume->see != NULL || volume->resampler != NULL;
    for (int32_t y = 0; y < source->size[1] && wanted && status == UNET_OK; y++) {
        float *row = volume->slice + (size_t)y * (size_t)source->size[2];
        unet_voxels_row(&one, 0, y, 0, source->size[2], row);
        if (volume->see != NULL) {
            volume->see(volume->context, volume->read, y, row);
        }
    }
    volume->read++;
    return status;
}

/* The next slice of the file, to the resampler. */
static UnetStatus feed_slice(UnetSampledVolume *volume, int64_t *strange, UnetError *error) {
    UnetStatus status = read_source(volume, volume->stored, strange, error);
    if (status == UNET_OK) {
        unet_resampler_feed(volume->resampler, volume->slice);
    }
    return status;
}

#define CONVERT(type)                                                                                      \
    for (size_t i = 0; i < count; i++)                                                                     \
    ((type *)slice)[i] = (type)volume->made[i]

/* Numbers of whole voxels are still whole. */
static void store_slice(const UnetSampledVolume *volume, void *slice) {
    const size_t count = points_of(&volume->info);
    switch (volume->info.type) {
    case UNET_VOXEL_U8:
        CONVERT(uint8_t);
        break;
    case UNET_VOXEL_I8:
        CONVERT(int8_t);
        break;
    case UNET_VOXEL_U16:
        CONVERT(uint16_t);
        break;
    case UNET_VOXEL_I16:
        CONVERT(int16_t);
        break;
    case UNET_VOXEL_F32:
        memcpy(slice, volume->made, count * sizeof(float));
        break;
    }
}

UnetStatus unet_sampled_read_slice(UnetSampledVolume *volume, void *slice, int64_t *strange,
                                   UnetError *error) {
    if (volume->resampler == NULL) {
        return read_source(volume, slice, strange, error);
    }
    const bool last = ++volume->given == volume->info.size[0];
    UnetStatus status = UNET_OK;
    while (status == UNET_OK && !unet_resampler_ready(volume->resampler)) {
        status = feed_slice(volume, strange, error);
    }
    if (status != UNET_OK) {
        return status;
    }
    unet_resampler_take(volume->resampler, volume->made);
    store_slice(volume, slice);
    while (last && status == UNET_OK && volume->read < unet_volume_info(volume->reader)->size[0]) {
        status = feed_slice(volume, strange, error); /* the file must end as it should */
    }
    return status;
}
