/* picture.h - small pictures in memory, and the PNG file of one, for event files and pages. */
#ifndef UNET_PICTURE_H
#define UNET_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "unet/status.h"

/* POINTS: rows of 1 or 3 bytes a point. */
typedef struct {
    int32_t height, width, channels;
    const uint8_t *points;
} UnetPicture;

/* *PNG becomes the file, of *LENGTH bytes, which the caller frees; NULL after a failure.  SMALL: takes
 * longer, and photographs take less. */
UNET_MUST_USE UnetStatus unet_picture_png(const UnetPicture *picture, bool small, uint8_t **png,
                                          size_t *length, UnetError *error);

#endif
