/* volume_format.h - what the formats of volumes share; private to the runtime. */
#ifndef UNET_VOLUME_FORMAT_H
#define UNET_VOLUME_FORMAT_H

#include "unet/volume.h"

typedef struct {
    /* On failure *STATE is NULL. */
    UnetStatus (*open)(void **state, const char *path, UnetVolumeInfo *info, UnetError *error);
    UnetStatus (*read_slice)(void *state, void *slice, int64_t *strange, UnetError *error);
    void (*close)(void *state);
} VolumeFormat;

extern const VolumeFormat volume_nifti; /* where the build has none: it refuses */
extern const VolumeFormat volume_npy;

/* Whether the file at PATH begins as an array of NumPy does. */
bool volume_is_npy(const char *path);

#endif
