/* volume.h - reading and writing volumes: NIfTI-1 files, alone (`.nii`) or packed by gzip
 * (`.nii.gz`), where the build has Debian's NIfTI library; reading arrays of NumPy (`.npy`, and
 * where it has libminizip `.npz`).
 *
 * A volume is three axes of voxels, each one number: bytes, integers of up to 64 bits, floats or doubles,
 * as they lie in the file.  Nothing is turned: axis order here is z, y, x, x being the one that runs
 * fastest in the file, and where it points says the affine.  Numbers come as slope * stored + intercept,
 * where the file has a slope that is neither 0 nor no number; numbers that are not finite come as 0, and
 * are counted.
 *
 * Files are not trusted: at most 2^31 voxels, and no more than the length of the file can justify.
 */
#ifndef UNET_VOLUME_H
#define UNET_VOLUME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "unet/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How voxels are held: as in the file where its numbers are not scaled and have up to 16 bits; else as
 * floats. */
typedef enum { UNET_VOXEL_U8, UNET_VOXEL_I8, UNET_VOXEL_U16, UNET_VOXEL_I16, UNET_VOXEL_F32 } UnetVoxel;
enum { UNET_VOXEL_TYPES = UNET_VOXEL_F32 + 1 };

size_t unet_voxel_bytes(UnetVoxel type);

enum { UNET_NIFTI_HEADER = 348 };

typedef struct {
    int32_t size[3]; /* z, y, x */
    UnetVoxel type;
    double spacing[3];   /* of z, y, x, in millimetres */
    double affine[3][4]; /* (x, y, z, 1) of a voxel to millimetres from left, back, below: RAS+ */
    uint8_t header[UNET_NIFTI_HEADER]; /* of the file, in this machine's order of bytes */
} UnetVolumeInfo;

/* Whether PATH is called as volumes alone are: .nii or .nii.gz; and, where this build reads none, the
 * package of Debian that is missing, else NULL. */
bool unet_volume_is_name(const char *path);
const char *unet_volume_package(void);

/* PATH with the number of CHANNEL in place of "_0000", as nnU-Net names files; false: it has none, or is
 * too long. */
bool unet_volume_channel_path(const char *path, int32_t channel, char *out, size_t size);

/* Whether the grids of A and B are one: sizes, and where their corners lie, to a hundredth of a voxel. Else
 * WHY says what differs. */
bool unet_volume_same_grid(const UnetVolumeInfo *a, const UnetVolumeInfo *b, char why[200]);

/* ---- reading ---- */

typedef struct UnetVolumeReader UnetVolumeReader;

/* On failure *READER is NULL; the error names the file. */
UNET_MUST_USE UnetStatus unet_volume_open(UnetVolumeReader **reader, const char *path, UnetError *error);
const UnetVolumeInfo *unet_volume_info(const UnetVolumeReader *reader);

/* The next slice: size[1] * size[2] voxels of the type that they are held in.  Called size[0] times; the
 * last call also checks that the file ends as it should.  *STRANGE grows by the voxels that were not
 * finite.
 */
UNET_MUST_USE UnetStatus unet_volume_read_slice(UnetVolumeReader *reader, void *slice, int64_t *strange,
                                                UnetError *error);
void unet_volume_close(UnetVolumeReader *reader); /* NULL is fine */

/* ---- writing ---- */

typedef struct UnetVolumeWriter UnetVolumeWriter;

/* A file of the geometry of LIKE: CLASSES: bytes, or with more than 256 of them 16 bits; else (0) floats,
 * CHANNELS volumes one after another.  The file appears under its name when it is complete; on failure
 * *WRITER is NULL. */
UNET_MUST_USE UnetStatus unet_volume_create(UnetVolumeWriter **writer, const char *path,
                                            const UnetVolumeInfo *like, int32_t channels, int32_t classes,
                                            UnetError *error);
/* The next COUNT voxels; or voxels of CHANNEL, if all channels come a piece at a time: behind the first
 * they wait in a file beside the result, which nobody sees, for the end. */
UNET_MUST_USE UnetStatus unet_volume_write(UnetVolumeWriter *writer, const float *voxel, size_t count,
                                           UnetError *error);
UNET_MUST_USE UnetStatus unet_volume_write_channel(UnetVolumeWriter *writer, int32_t channel,
                                                   const float *voxel, size_t count, UnetError *error);
/* After all voxels.  WRITER is gone afterwards, whatever the status. */
UNET_MUST_USE UnetStatus unet_volume_finish(UnetVolumeWriter *writer, UnetError *error);
void unet_volume_discard(UnetVolumeWriter *writer); /* no file appears; NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
