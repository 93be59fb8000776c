/* volume.c - fuzzes the reading of NIfTI files, plain and packed. */
#include "target.h"

#include <stdlib.h>

#include "unet/volume.h"

enum { MOST_BYTES = 1 << 26 }; /* of a slice: more is no finding */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    UnetVolumeReader *reader;
    UnetError error;
    if (unet_volume_open(&reader, as_file(FUZZ_FIRST, data, size), &error) != UNET_OK)
        return 0;
    const UnetVolumeInfo *info = unet_volume_info(reader);
    const size_t bytes = (size_t)info->size[1] * (size_t)info->size[2] * unet_voxel_bytes(info->type);
    void *slice = bytes <= MOST_BYTES ? malloc(bytes) : NULL;
    int64_t strange = 0;
    char why[200];
    if (!unet_volume_same_grid(info, info, why))
        abort();
    for (int32_t z = 0; slice != NULL && z < info->size[0]; z++)
        if (unet_volume_read_slice(reader, slice, &strange, &error) != UNET_OK)
            break;
    free(slice);
    unet_volume_close(reader);
    return 0;
}
