/* exif.h - what EXIF says of a picture; private to the runtime. */
#ifndef UNET_EXIF_H
#define UNET_EXIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether EXIF, LENGTH bytes that begin with a header as TIFF has it, asks for the picture to be turned or
 * mirrored.  Bytes that are no EXIF ask for nothing. */
bool exif_turns(const uint8_t *bytes, size_t length);

#endif
