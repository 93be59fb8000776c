/* image_npy_write.c - images as arrays of NumPy: (height, width), or (height, width, channels), signals as
 * (channels, length), of bytes, whole numbers of 16 bits, or floats, the lowest byte of a number first. */
#include "image_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 128, PLACE_OF_TEXT = 10 };

static bool begin_npy(UnetImageWriter *writer) {
    const UnetImageInfo *shape = &writer->shape;
    const char *type = shape->bits == 32 ? "<f4" : shape->bits == 16 ? "<u2" : "|u1";
    char head[HEAD_BYTES + 1], axes[64];
    if (shape->signal) {
        (void)snprintf(axes, sizeof axes, "%d, %d", (int)shape->channels, (int)shape->width);
        writer->state = malloc(writer->row_bytes);
    } else if (shape->channels > 1) {
        (void)snprintf(axes, sizeof axes, "%d, %d, %d", (int)shape->height, (int)shape->width,
                       (int)shape->channels);
    } else {
        (void)snprintf(axes, sizeof axes, "%d, %d", (int)shape->height, (int)shape->width);
    }
    if (shape->signal && writer->state == NULL) {
        return false;
    }
    memset(head, ' ', HEAD_BYTES);
    memcpy(head, "\x93NUMPY\1", 7);
    head[7] = 0; /* version 1.0 */
    head[8] = HEAD_BYTES - PLACE_OF_TEXT;
    head[9] = 0;
    const int length = snprintf(head + PLACE_OF_TEXT, sizeof head - PLACE_OF_TEXT,
                                "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, axes);
    head[PLACE_OF_TEXT + length] = ' ';
    head[HEAD_BYTES - 1] = '\n';
    return unet_atomic_write(&writer->file, head, HEAD_BYTES, &writer->error) == UNET_OK;
}

/* Brings the numbers of a frame, which lie side by side, to the rows of their channels. */
static void part_channels(UnetImageWriter *writer) {
    const size_t bytes = (size_t)writer->shape.bits / 8, channels = (size_t)writer->shape.channels,
                 frames = (size_t)writer->shape.width;
    uint8_t *parted = writer->state;
    for (size_t i = 0; i < frames; i++) {
        for (size_t c = 0; c < channels; c++) {
            memcpy(parted + (c * frames + i) * bytes, writer->row + (i * channels + c) * bytes, bytes);
        }
    }
    memcpy(writer->row, parted, writer->row_bytes);
}

static bool write_row(UnetImageWriter *writer) {
    image_turn_bytes(writer);
    if (writer->shape.signal) {
        part_channels(writer);
    }
    return unet_atomic_write(&writer->file, writer->row, writer->row_bytes, &writer->error) == UNET_OK;
}

static bool write_end(UnetImageWriter *writer) {
    (void)writer; /* the last row is the last of the file */
    return true;
}

static void close_npy(UnetImageWriter *writer) {
    free(writer->state);
}

const ImageEncoder image_npy_encoder = {
    .begin = begin_npy, .write_row = write_row, .end = write_end, .close = close_npy};
