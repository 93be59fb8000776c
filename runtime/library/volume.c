/* volume.c - what volumes are called, and whether two of them show the same place. */
#include "unet/volume.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

size_t unet_voxel_bytes(UnetVoxel type) {
    static const size_t bytes[UNET_VOXEL_TYPES] = {[UNET_VOXEL_U8] = 1,
                                                   [UNET_VOXEL_I8] = 1,
                                                   [UNET_VOXEL_U16] = 2,
                                                   [UNET_VOXEL_I16] = 2,
                                                   [UNET_VOXEL_F32] = 4};
    return bytes[type];
}

static bool ends_in(const char *path, const char *suffix) {
    const size_t length = strlen(path), end = strlen(suffix);
    return length >= end && strcasecmp(path + length - end, suffix) == 0;
}

bool unet_volume_is_name(const char *path) {
    return ends_in(path, ".nii") || ends_in(path, ".nii.gz");
}

bool unet_volume_channel_path(const char *path, int32_t channel, char *out, size_t size) {
    const char *slash = strrchr(path, '/'), *found = strstr(slash != NULL ? slash : path, "_0000");
    const int n = found == NULL ? -1
                                : snprintf(out, size, "%.*s_%04d%s", (int)(found - path), path, channel,
                                           found + strlen("_0000"));
    return n > 0 && (size_t)n < size;
}

const char *unet_volume_package(void) {
#ifdef UNET_HAS_NIFTI
    return NULL;
#else
    return "libnifti-dev";
#endif
}

/* ---- grids ------------------------------------------------------------------------------------ */

/* Finds the place of the voxel (x, y, z). */
static void place(const UnetVolumeInfo *info, const double voxel[3], double at[3]) {
    for (int i = 0; i < 3; i++) {
        const double *row = info->affine[i];
        at[i] = row[0] * voxel[0] + row[1] * voxel[1] + row[2] * voxel[2] + row[3];
    }
}

static bool same_spacing(const UnetVolumeInfo *a, const UnetVolumeInfo *b) {
    bool same = true;
    for (int i = 0; i < 3; i++) {
        same &= fabs(a->spacing[i] - b->spacing[i]) <= 1e-3 * a->spacing[i];
    }
    return same;
}

/* How far apart the corners of both lie, at most; the first of the four is the origin. */
static double distance(const UnetVolumeInfo *a, const UnetVolumeInfo *b, bool origin_only) {
    double most = 0;
    for (int corner = 0; corner < (origin_only ? 1 : 4); corner++) {
        double voxel[3] = {0, 0, 0}, first[3], second[3], square = 0;
        if (corner > 0) {
            voxel[corner - 1] = a->size[3 - corner] - 1;
        }
        place(a, voxel, first);
        place(b, voxel, second);
        for (int i = 0; i < 3; i++) {
            square += (first[i] - second[i]) * (first[i] - second[i]);
        }
        most = fmax(most, sqrt(square));
    }
    return most;
}

bool unet_volume_same_grid(const UnetVolumeInfo *a, const UnetVolumeInfo *b, char why[200]) {
    const double smallest = fmin(a->spacing[0], fmin(a->spacing[1], a->spacing[2]));
    why[0] = '\0';
    if (memcmp(a->size, b->size, sizeof a->size) != 0) {
        (void)snprintf(why, 200, "%d x %d x %d and %d x %d x %d voxels", a->size[0], a->size[1], a->size[2],
                       b->size[0], b->size[1], b->size[2]);
    } else if (!same_spacing(a, b)) {
        (void)snprintf(why, 200, "voxels of %g x %g x %g mm and %g x %g x %g mm", a->spacing[0],
                       a->spacing[1], a->spacing[2], b->spacing[0], b->spacing[1], b->spacing[2]);
    } else if (distance(a, b, true) > 0.1 * smallest) {
        (void)snprintf(why, 200, "their first voxels lie %.3g mm apart", distance(a, b, true));
    } else if (distance(a, b, false) > 0.1 * smallest) {
        (void)snprintf(why, 200, "their axes point elsewhere: corners lie %.3g mm apart",
                       distance(a, b, false));
    }
    return why[0] == '\0';
}
