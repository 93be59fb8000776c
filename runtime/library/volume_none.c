/* volume_none.c - in place of volume_nifti.c and volume_write.c where the build has no NIfTI library: says
 * so. */
#include "unet/volume.h"

static UnetStatus refuse(const char *path, UnetError *error) {
    return unet_fail(error, UNET_IO,
                     "%s: a NIfTI file: install %s and build unetc anew, which was built without", path,
                     unet_volume_package());
}

UnetStatus unet_volume_open(UnetVolumeReader **reader, const char *path, UnetError *error) {
    *reader = NULL;
    return refuse(path, error);
}

const UnetVolumeInfo *unet_volume_info(const UnetVolumeReader *reader) {
    (void)reader;
    return NULL;
}

UnetStatus unet_volume_read_slice(UnetVolumeReader *reader, void *slice, int64_t *strange,
                                  UnetError *error) {
    (void)reader, (void)slice, (void)strange;
    return refuse("this", error);
}

void unet_volume_close(UnetVolumeReader *reader) {
    (void)reader;
}

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
