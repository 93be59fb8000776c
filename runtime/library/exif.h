/* exif.h - what EXIF says of a picture; private to the runtime. */
#ifndef UNET_EXIF_H
#define UNET_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* How EXIF, LENGTH bytes that begin with a header as TIFF has it, asks for the picture to be turned or
 * mirrored: 1, not at all, to 8.  Bytes that are no EXIF ask for nothing. */
int32_t exif_orientation(const uint8_t *bytes, size_t length);

#endif
