/* image_npy.h - an array of NumPy as an image, wherever its bytes come from; private to the runtime. */
#ifndef UNET_IMAGE_NPY_H
#define UNET_IMAGE_NPY_H

#include "image_format.h"
#include "npy.h"

typedef struct {
    NpyBytes bytes;
    NpyHead head;
    int axis[3];      /* of height, width and channels; negative: none */
    uint8_t *numbers; /* a row of the file */
} ImageArray;

/* Reads the head from ARRAY->bytes; fills in the shape of READER, for as many channels as are asked for. */
bool image_array_open(UnetImageReader *reader, ImageArray *array);
bool image_array_begin(UnetImageReader *reader, ImageArray *array);
bool image_array_row(UnetImageReader *reader, ImageArray *array);
bool image_array_all(UnetImageReader *reader, ImageArray *array);
void image_array_close(UnetImageReader *reader, ImageArray *array);

#endif
