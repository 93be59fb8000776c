/* volume_none.c - in place of volume_nifti.c and volume_write.c where the build has no NIfTI library: says
 * so. */
#include "volume_format.h"

static UnetStatus refuse(const char *path, UnetError *error) {
    return unet_fail(error, UNET_IO,
                     "%s: a NIfTI file: install %s and build unetc anew, which was built without", path,
                     unet_volume_package());
}

static UnetStatus open_none(void **state, const char *path, UnetVolumeInfo *info, UnetError *error) {
    (void)info;
    *state = NULL;
    return refuse(path, error);
}

static UnetStatus read_none(void *state, void *slice, int64_t *strange, UnetError *error) {
    (void)state, (void)slice, (void)strange;
    return refuse("this", error);
}

static void close_none(void *state) {
    (void)state;
}

const VolumeFormat volume_nifti = {.open = open_none, .read_slice = read_none, .close = close_none};

UnetStatus unet_volume_create(UnetVolumeWriter **writer, const char *path, const UnetVolumeInfo *like,
                              int32_t channels, int32_t classes, UnetError *error) {
    (void)like, (void)channels, (void)classes;
    *writer = NULL;
    return refuse(path, error);
}

UnetStatus unet_volume_write(UnetVolumeWriter *writer, const float *voxel, size_t count, UnetError *error) {
    (void)writer, (void)voxel, (void)count;
    return refuse("this", error);
}

UnetStatus unet_volume_write_channel(UnetVolumeWriter *writer, int32_t channel, const float *voxel,
                                     size_t count, UnetError *error) {
    (void)channel;
    return unet_volume_write(writer, voxel, count, error);
}

UnetStatus unet_volume_finish(UnetVolumeWriter *writer, UnetError *error) {
    (void)writer;
    return refuse("this", error);
}

void unet_volume_discard(UnetVolumeWriter *writer) {
    (void)writer;
}
