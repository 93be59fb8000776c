/* volume_read.c - volumes, read slice by slice by the reader of their format, which their first bytes tell.
 */
#include "volume_format.h"

#include <stdlib.h>

struct UnetVolumeReader {
    const VolumeFormat *format;
    void *state;
    UnetVolumeInfo info;
};

UnetStatus unet_volume_open(UnetVolumeReader **reader, const char *path, UnetError *error) {
    *reader = NULL;
    UnetVolumeReader *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    opened->format = volume_is_npy(path) ? &volume_npy : &volume_nifti;
    const UnetStatus status = opened->format->open(&opened->state, path, &opened->info, error);
    if (status != UNET_OK) {
        free(opened);
        return status;
    }
    *reader = opened;
    return UNET_OK;
}

const UnetVolumeInfo *unet_volume_info(const UnetVolumeReader *reader) {
    return &reader->info;
}

UnetStatus unet_volume_read_slice(UnetVolumeReader *reader, void *slice, int64_t *strange,
                                  UnetError *error) {
    return reader->format->read_slice(reader->state, slice, strange, error);
}

void unet_volume_close(UnetVolumeReader *reader) {
    if (reader != NULL) {
        reader->format->close(reader->state);
        free(reader);
    }
}
