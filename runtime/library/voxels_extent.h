/* voxels_extent.h - facts about a volume as its file has it, before it is resampled. */
#ifndef VOXELS_EXTENT_H
#define VOXELS_EXTENT_H

#include "unet/voxels.h"

/* Facts about the rows that came so far. */
typedef struct {
    int32_t size[3]; /* z, y, x */
    UnetFileFacts facts;
    uint8_t *mask; /* a bit for each voxel that is not 0; NULL: not wanted */
} Extent;

/* False: no memory. */
bool extent_start(Extent *extent, const int32_t size[3], bool masked);
void extent_row(Extent *extent, int32_t z, int32_t y, const float *row);
/* After all rows: the mask gets its holes, and is counted.  False: no memory. */
bool extent_finish(Extent *extent);
void extent_end(Extent *extent);

/* Bytes of the mask of a volume. */
size_t extent_mask_bytes(const int32_t size[3]);

#endif
