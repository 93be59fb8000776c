/* resample.h - volumes on a grid of another spacing, slice by slice.
 *
 * An axis of N voxels of width S becomes one of M = S / T * N voxels, rounded to a thousandth, and then to
 * a whole number, halves to even, T being the width that is asked for.  Both cover the same length, so the
 * new voxels are S * N / M wide, which is only nearly T.  The middle of voxel i of the new axis lies at
 *
 *     p = (i + 1/2) * N / M - 1/2
 *
 * on the old one, where voxel k has its middle at k.  Nearest: voxel floor(p + 1/2), in whole numbers.
 * Linear: p is brought into [0, N - 1], and between voxels k and k + 1 the number is a + (b - a) * (p - k),
 * along x, then y, then z, computed in double and rounded to float after each axis.  M = N changes nothing,
 * bit for bit.
 *
 * Cubic: the number at p of the B-spline of order 3 through all voxels of the axis, which goes on beyond
 * its ends with the first and the last one; axis by axis, as above.  It is a sum over voxels, whose weights
 * fall to 27 % from one to the next: those within 16 voxels count, which leaves out less than 1e-9 of it.
 * That is scipy.ndimage.zoom(order = 3, mode = "nearest", grid_mode = True), and what skimage's resize
 * (mode = "edge") and with it nnU-Net takes, which then also clips to the range of the volume.
 *
 * Two slices of the new height and width are held, whatever the depth; of cubic axes at most 34.
 */
#ifndef UNET_RESAMPLE_H
#define UNET_RESAMPLE_H

#include "unet/volume.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { UNET_NEAREST, UNET_LINEAR, UNET_CUBIC } UnetInterpolation;

/* ---- slices ---- */

typedef struct UnetResampler UnetResampler;

/* From a grid of FROM voxels to one of TO, z, y, x, each at least 1, each axis HOW it says; NULL: no
 * memory. */
UnetResampler *unet_resampler_new(const int32_t from[3], const int32_t to[3],
                                  const UnetInterpolation how[3]);
void unet_resampler_free(UnetResampler *resampler); /* NULL is fine */

/* The next slice of the old grid; while a slice is ready it is to be taken before.  Slices behind
 * the last slice of the new grid are passed over. */
void unet_resampler_feed(UnetResampler *resampler, const float *slice);

/* Whether the next slice of the new grid can be taken; false after the last. */
bool unet_resampler_ready(const UnetResampler *resampler);
void unet_resampler_take(UnetResampler *resampler, float *slice);

/* ---- files ---- */

/* How a file is resampled.  Spacing of z, y, x in millimetres, above 0; spacing[0] 0: not at all.  Cubic,
 * one axis takes the nearest voxel, as in nnU-Net: where in the file, or else on the new grid, voxels are
 * more than three times as wide along it as along the finest, and no other axis is as coarse. */
typedef struct {
    double spacing[3];
    UnetInterpolation how;
    bool masked;  /* who decodes it (unet/voxels.h) notes the mask of voxels that are not 0 */
    double whole; /* who decodes it rounds numbers that are as near to a whole one; 0: none */
} UnetSampling;

/* A volume that is read from a file on another grid. */
typedef struct UnetSampledVolume UnetSampledVolume;

/* As unet_volume_open(); SAMPLING NULL: as the file is.  Fails where the file's header has no width of a
 * voxel that is a number above 0, and where the new grid would have an axis without voxels, more than 32767
 * along one, or more than 2^31 in all. */
UNET_MUST_USE UnetStatus unet_sampled_open(UnetSampledVolume **volume, const char *path,
                                           const UnetSampling *sampling, UnetError *error);

/* The new grid, and the file's.  Nearest keeps the type of voxels, others make floats, unless the
 * grids are one. */
const UnetVolumeInfo *unet_sampled_info(const UnetSampledVolume *volume);
const UnetVolumeInfo *unet_sampled_source(const UnetSampledVolume *volume);

/* As unet_volume_read_slice(), of the new grid. */
UNET_MUST_USE UnetStatus unet_sampled_read_slice(UnetSampledVolume *volume, void *slice, int64_t *strange,
                                                 UnetError *error);
void unet_sampled_close(UnetSampledVolume *volume); /* NULL is fine */

/* SEE gets row (Z, Y) of the file, before it is resampled, as it is read. */
typedef void UnetSeeRow(void *context, int32_t z, int32_t y, const float *row);
void unet_sampled_watch(UnetSampledVolume *volume, UnetSeeRow *see, void *context);

#ifdef __cplusplus
}
#endif

#endif
