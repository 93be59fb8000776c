/* image_tiff_write.c - TIFF images, from the first byte to the last: header, list of tags, palette, where
 * the strips lie, and the strips, which are not compressed.  All of it is known before the first row, so
 * the file is written in one go and looks the same on every machine: the highest byte of a number comes
 * first. */
#include "image_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 8,
    TAG_BYTES = 12,
    TAGS = 11, /* and two that only some files have: */
    PALETTE_TAG = 1,
    EXTRA_TAG = 1,
    STRIP_BYTES = 1 << 16, /* of rows, at least one row */
    COLOURS = 256
};
enum { SHORT = 3, LONG = 4 }; /* types of values */

/* The part of the file before its rows. */
typedef struct {
    uint8_t *bytes;
    size_t used;
    uint32_t values; /* where values that do not fit into their tag go next */
} Front;

static void put(Front *front, uint32_t number, int bytes) {
    while (bytes-- > 0) {
        front->bytes[front->used++] = (uint8_t)(number >> 8 * bytes);
    }
}

static uint32_t type_bytes(int type) {
    return type == SHORT ? 2 : 4;
}

/* A tag of COUNT values: each VALUE, or, where they take more than four bytes, those put behind the list
 * later.
 */
static void put_tag(Front *front, uint32_t tag, int type, uint32_t count, uint32_t value) {
    const uint32_t bytes = count * type_bytes(type);
    put(front, tag, 2);
    put(front, (uint32_t)type, 2);
    put(front, count, 4);
    if (bytes > 4) {
        put(front, front->values, 4);
        front->values += bytes;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            put(front, value, (int)type_bytes(type));
        }
        front->used += 4 - bytes;
    }
}

/* Channels that are no colours. */
static uint32_t extra_samples(const UnetImageInfo *shape) {
    return shape->channels == 1 || shape->channels == 3 ? 0 : (uint32_t)shape->channels - 1;
}

/* Bytes of COUNT numbers of 16 bits, where they do not fit into their tag. */
static uint32_t beside_tag(uint32_t count) {
    return count > 2 ? 2 * count : 0;
}

static void put_shorts(Front *front, uint32_t count, uint32_t value) {
    for (uint32_t i = 0; count > 2 && i < count; i++) {
        put(front, value, 2);
    }
}

/* The rows of a strip, and how many strips there are. */
static uint32_t strip_rows(const UnetImageWriter *writer) {
    const size_t rows = STRIP_BYTES / writer->row_bytes;
    return rows > 0 ? (uint32_t)rows : 1;
}

static uint32_t strips_of(const UnetImageWriter *writer) {
    return ((uint32_t)writer->shape.height - 1) / strip_rows(writer) + 1;
}

static uint32_t strip_bytes(const UnetImageWriter *writer, uint32_t strip) {
    const uint32_t first = strip * strip_rows(writer), left = (uint32_t)writer->shape.height - first;
    return (left < strip_rows(writer) ? left : strip_rows(writer)) * (uint32_t)writer->row_bytes;
}

static void put_tags(Front *front, const UnetImageWriter *writer, uint32_t rows_at) {
    const UnetImageInfo *shape = &writer->shape;
    const uint32_t samples = (uint32_t)shape->channels, strips = strips_of(writer);
    put_tag(front, 256, LONG, 1, (uint32_t)shape->width);
    put_tag(front, 257, LONG, 1, (uint32_t)shape->height);
    put_tag(front, 258, SHORT, samples, (uint32_t)shape->bits);
    put_tag(front, 259, SHORT, 1, 1);                                         /* not compressed */
    put_tag(front, 262, SHORT, 1, shape->palette ? 3 : samples == 3 ? 2 : 1); /* palette, RGB, grey */
    put_tag(front, 273, LONG, strips, rows_at);
    put_tag(front, 277, SHORT, 1, samples);
    put_tag(front, 278, LONG, 1, strip_rows(writer));
    put_tag(front, 279, LONG, strips, strip_bytes(writer, 0));
    put_tag(front, 284, SHORT, 1, 1); /* samples side by side */
    if (shape->palette) {
        put_tag(front, 320, SHORT, 3 * COLOURS, 0);
    }
    if (extra_samples(shape) > 0) {
        put_tag(front, 338, SHORT, extra_samples(shape), 0); /* of no kind */
    }
    put_tag(front, 339, SHORT, samples, shape->bits == 32 ? 3 : 1); /* floats, whole numbers */
    put(front, 0, 4);                                               /* no other page */
}

/* Values that did not fit into their tags, in the order of these. */
static void put_values(Front *front, const UnetImageWriter *writer, uint32_t rows_at) {
    const UnetImageInfo *shape = &writer->shape;
    const uint32_t strips = strips_of(writer);
    put_shorts(front, (uint32_t)shape->channels, (uint32_t)shape->bits);
    for (uint32_t i = 0; strips > 1 && i < strips; i++) {
        put(front, rows_at + i * strip_bytes(writer, 0), 4);
    }
    for (uint32_t i = 0; strips > 1 && i < strips; i++) {
        put(front, strip_bytes(writer, i), 4);
    }
    for (int i = 0; shape->palette && i < 3 * COLOURS; i++) {
        uint8_t rgb[3];
        unet_class_colour(i % COLOURS, rgb);
        put(front, 257u * rgb[i / COLOURS], 2);
    }
    put_shorts(front, extra_samples(shape), 0);
    put_shorts(front, (uint32_t)shape->channels, shape->bits == 32 ? 3 : 1);
}

static bool begin_tiff(UnetImageWriter *writer) {
    const UnetImageInfo *shape = &writer->shape;
    const uint32_t extra = extra_samples(shape),
                   tags = TAGS + (shape->palette ? PALETTE_TAG : 0u) + (extra > 0 ? EXTRA_TAG : 0u),
                   list = HEADER_BYTES + 2 + tags * TAG_BYTES + 4;
    const uint64_t strips = strips_of(writer),
                   front_bytes = list + 2 * beside_tag((uint32_t)shape->channels) + beside_tag(extra) +
                                 (strips > 1 ? 8 * strips : 0) + (shape->palette ? 6 * COLOURS : 0);
    if (writer->row_bytes > UINT32_MAX / (uint64_t)shape->height ||
        front_bytes + writer->row_bytes * (uint64_t)shape->height > UINT32_MAX) {
        (void)unet_fail(&writer->error, UNET_IO, "%s: more than 4 GiB: a TIFF file holds no more",
                        writer->file.path);
        return false;
    }
    Front front = {.bytes = calloc(1, (size_t)front_bytes), .values = list};
    if (front.bytes == NULL) {
        return false;
    }
    memcpy(front.bytes, "MM\0*\0\0\0\10", HEADER_BYTES);
    front.used = HEADER_BYTES;
    put(&front, tags, 2);
    put_tags(&front, writer, (uint32_t)front_bytes);
    put_values(&front, writer, (uint32_t)front_bytes);
    const UnetStatus status = unet_atomic_write(&writer->file, front.bytes, front.used, &writer->error);
    free(front.bytes);
    return status == UNET_OK;
}

static bool write_row(UnetImageWriter *writer) {
    return unet_atomic_write(&writer->file, writer->row, writer->row_bytes, &writer->error) == UNET_OK;
}

static bool write_end(UnetImageWriter *writer) {
    (void)writer; /* the last row is the last of the file */
    return true;
}

static void close_tiff(UnetImageWriter *writer) {
    (void)writer;
}

const ImageEncoder image_tiff_encoder = {
    .begin = begin_tiff, .write_row = write_row, .end = write_end, .close = close_tiff};
