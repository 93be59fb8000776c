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
    int32_t frames; /* of the signal that the picture shows; 0: it shows none */
} UnetPicture;

/* Draws ROW, a picture of one row, into POINTS, and returns what it drew, of as many channels.  A byte is
 * an amplitude, 128 is silence.  In each column the points between the least and the largest byte there are
 * dark; the loudest of all reaches the edge.  CLASSES: the row as a strip, in its colours. */
enum { UNET_WAVE_WIDTH = 320, UNET_WAVE_HEIGHT = 64, UNET_WAVE_BYTES = 3 * 320 * 64 };
UnetPicture unet_picture_wave(const UnetPicture *row, bool classes, uint8_t points[UNET_WAVE_BYTES]);

/* *PNG becomes the file, of *LENGTH bytes, which the caller frees; NULL after a failure.  SMALL: takes
 * longer, and photographs take less. */
UNET_MUST_USE UnetStatus unet_picture_png(const UnetPicture *picture, bool small, uint8_t **png,
                                          size_t *length, UnetError *error);

#endif
