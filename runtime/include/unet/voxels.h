/* voxels.h - volumes decoded once, into a file that is read in place.
 *
 * Beside SCAN.nii.gz lies .SCAN.nii.gz.unetvol, or, where a folder for such files is given,
 * DIR/HASH-SCAN.nii.gz.unetvol; of one that is resampled .SCAN.nii.gz.1x1x1-linear.unetvol. It holds the
 * voxels as they are held in memory, where they lie, and what training asks of them all.  It counts while
 * the source has the length and the time that it had, and of the same spacing; else it is made anew.  It is
 * written under another name and renamed when it is whole, so that several programs may do it at once.
 */
#ifndef UNET_VOXELS_H
#define UNET_VOXELS_H

#include "unet/atomic_file.h"
#include "unet/model.h"
#include "unet/resample.h"
#include "unet/volume.h"

/* Measures of all voxels that the file has, before it is resampled. */
typedef struct {
    double sum, squares;
    int32_t begin[3]; /* the box of voxels that are not 0: [begin, end), z, y, x; empty: 0, 0 */
    int32_t end[3];
    int64_t masked; /* voxels of the mask, where there is one */
} UnetFileFacts;

/* All voxels of a volume. */
typedef struct {
    UnetFileFacts file;
    float least, most;
    int64_t strange; /* that were not finite */
    int64_t rounded; /* that became whole numbers */
    int64_t odd;     /* that should be whole numbers and are not; the first: */
    int32_t odd_at[3], odd_unused;
    double odd_value;
    int32_t nvalue; /* numbers that occur, where there are few and all may be classes; else 0 */
} UnetVoxelFacts;

enum { UNET_MOST_VALUES = 256 };

typedef struct {
    UnetVolumeInfo info;
    int32_t source_size[3]; /* of the file, where `info` is of the grid it was resampled to, z, y, x */
    double source_spacing[3];
    UnetVoxelFacts facts;
    const void *voxel;     /* z, y, x, of info.type */
    const int32_t *value;  /* nvalue, ascending, */
    const uint32_t *count; /*   and how often each is in each slice: count[k * size[0] + z] */
    const uint8_t *mask;   /* on the file's grid, if the sampling asks for it, else NULL: voxels not 0,
                              and the holes in that, as bits, rows of whole bytes */
    void *mapped;          /* the file, or NULL */
    void *owned;           /* memory in its place, or NULL */
    void *owned_mask;      /*   and of the mask */
    size_t bytes;
} UnetVoxels;

/* Maps the cache file of the volume at PATH, making it where it is missing or of another time.  FOLDER: of
 * cache files, which is made if need be; NULL: beside PATH.  SAMPLING, here and below: to the grid that it
 * is resampled (unet/resample.h); NULL: not at all.  On failure nothing is open. */
UNET_MUST_USE UnetStatus unet_voxels_open(UnetVoxels *volume, const char *path, const char *folder,
                                          const UnetSampling *sampling, UnetError *error);

/* Whether there is a cache file that counts. */
bool unet_voxels_is_decoded(const char *path, const char *folder, const UnetSampling *sampling);

/* The same in memory, without a file. */
UNET_MUST_USE UnetStatus unet_voxels_decode(UnetVoxels *volume, const char *path,
                                            const UnetSampling *sampling, UnetError *error);

/* Only the measures of all voxels, without their values, and the mask: the file is read once, slice by
 * slice, and `voxel` stays NULL. */
UNET_MUST_USE UnetStatus unet_voxels_survey(UnetVoxels *volume, const char *path,
                                            const UnetSampling *sampling, UnetError *error);

void unet_voxels_close(UnetVoxels *volume); /* also of one that is all zeros */

/* Channels of one volume, which have one grid.  The box of voxels that are not 0 in some of them, on that
 * grid, or, if there are none, all of it: */
void unet_voxels_box(const UnetVoxels *channel, int32_t channels, int32_t begin[3], int32_t end[3]);

/* The numbers that bring each of them to mean 0 and deviation 1: over that box, in their files; or, with
 * masks, over the voxels that the mask of some channel has. */
void unet_voxels_normal(const UnetVoxels *channel, int32_t channels, UnetNormal *normal);

/* Whether the mask of some channel has voxel (Z, Y, X), or, resampled, that which lies nearest. */
bool unet_voxels_masked(const UnetVoxels *channel, int32_t channels, int32_t z, int32_t y, int32_t x);

/* Voxels X to X + COUNT - 1 of row (Z, Y), as floats. */
void unet_voxels_row(const UnetVoxels *volume, int32_t z, int32_t y, int32_t x, int32_t count, float *row);

#endif
