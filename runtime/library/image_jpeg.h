/* image_jpeg.h - between image_jpeg.c, which decodes, and image_jpeg_memory.c. */
#ifndef UNET_IMAGE_JPEG_H
#define UNET_IMAGE_JPEG_H

#include "image_memory.h"

#include <stdio.h>

#include <jpeglib.h>

typedef struct JpegMemory JpegMemory;

/* From here on libjpeg takes what it needs for JPEG from MEMORY, which outlives it; what it took before
 * stays its own.  False: no memory, and nothing is changed. */
bool jpeg_memory_take_over(struct jpeg_decompress_struct *jpeg, UnetImageMemory *memory);

#endif
