/* image_bmp.c - BMP files of Windows and OS/2 that are not compressed: palettes of 1, 4 and 8 bits, colours
 * of 16, 24 and 32 bits, by masks or as they are always meant; rows from below or from above. */
#include "image_format.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    FILE_HEADER = 14,
    CORE_HEADER = 12, /* of OS/2: sizes of 16 bits */
    INFO_HEADER = 40,
    MASKS_AT = FILE_HEADER + INFO_HEADER,
    MOST_HEADER = 124,
    COLOURS = 256
};
enum { PLAIN = 0, BY_MASKS = 3, BY_FOUR_MASKS = 6 };

typedef struct {
    int32_t bits, header;
    bool from_above, has_palette, is_grey;
    uint32_t compression, mask[4]; /* red, green, blue, alpha */
    uint32_t colours;              /* of the palette */
    uint8_t palette[COLOURS][3];
    off_t data;
    size_t stride; /* bytes of a row in the file */
    uint8_t *row;  /* one of them */
} Decoder;

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

static uint32_t little(const uint8_t *at, int count) {
    uint32_t value = 0;
    while (count-- > 0) {
        value = value << 8 | at[count];
    }
    return value;
}

static bool is_bmp(const uint8_t *signature) {
    return signature[0] == 'B' && signature[1] == 'M';
}

/* ---- the header ------------------------------------------------------------------------------- */

static bool read_at(UnetImageReader *reader, off_t place, uint8_t *bytes, size_t count) {
    if (image_file_seek(&reader->file, place, SEEK_SET) &&
        image_file_read(&reader->file, bytes, count) == count) {
        return true;
    }
    reader->cut_short = true;
    return fail(reader, "it ends within its header");
}

static bool read_sizes(UnetImageReader *reader, const uint8_t *header) {
    Decoder *d = reader->decoder;
    const bool core = d->header == CORE_HEADER;
    const int64_t width = core ? (int64_t)little(header + 18, 2) : (int32_t)little(header + 18, 4);
    int64_t height = core ? (int64_t)little(header + 20, 2) : (int32_t)little(header + 22, 4);
    d->bits = (int32_t)little(header + (core ? 24 : 28), 2);
    d->compression = core ? PLAIN : little(header + 30, 4);
    d->colours = core ? 0 : little(header + 46, 4);
    d->from_above = height < 0;
    height = height < 0 ? -height : height;
    if (width <= 0 || height == 0 || width > INT32_MAX || height > INT32_MAX) {
        return fail(reader, "its size is no size");
    }
    d->stride = ((size_t)width * (size_t)d->bits + 31) / 32 * 4;
    reader->shape = (UnetImageInfo){.width = (int32_t)width, .height = (int32_t)height, .bits = 8};
    return true;
}

static bool read_palette(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const size_t entry = d->header == CORE_HEADER ? 3 : 4;
    uint8_t bytes[4 * COLOURS];
    d->colours = d->colours == 0 || d->colours > 1u << d->bits ? 1u << d->bits : d->colours;
    if (!read_at(reader, FILE_HEADER + d->header, bytes, d->colours * entry)) {
        return false;
    }
    d->is_grey = true;
    for (uint32_t i = 0; i < d->colours; i++) {
        for (int c = 0; c < 3; c++) { /* blue comes first */
            d->palette[i][c] = bytes[i * entry + 2 - (size_t)c];
        }
        d->is_grey &= d->palette[i][0] == d->palette[i][1] && d->palette[i][0] == d->palette[i][2];
    }
    return true;
}

static bool read_masks(UnetImageReader *reader) {
    static const uint32_t usual[2][4] = {{0x7c00, 0x3e0, 0x1f, 0}, {0xff0000, 0xff00, 0xff, 0}};
    Decoder *d = reader->decoder;
    memcpy(d->mask, usual[d->bits != 16], sizeof d->mask);
    if (d->compression == PLAIN) {
        return true;
    }
    uint8_t bytes[16] = {0};
    const bool four = d->compression == BY_FOUR_MASKS || d->header > INFO_HEADER + 12;
    if (!read_at(reader, MASKS_AT, bytes, four ? 16 : 12)) {
        return false;
    }
    for (int c = 0; c < 4; c++) {
        d->mask[c] = little(bytes + 4 * (size_t)c, 4);
    }
    return true;
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    uint8_t header[FILE_HEADER + MOST_HEADER] = {0};
    if (!read_at(reader, 0, header, FILE_HEADER + CORE_HEADER)) {
        return false;
    }
    d->header = (int32_t)little(header + FILE_HEADER, 4);
    d->data = (off_t)little(header + 10, 4);
    if (d->header != CORE_HEADER && (d->header < INFO_HEADER || d->header > MOST_HEADER)) {
        return fail(reader, "a header of an unknown length");
    }
    if (!read_at(reader, 0, header, FILE_HEADER + (size_t)d->header) || !read_sizes(reader, header)) {
        return false;
    }
    d->has_palette = d->bits == 1 || d->bits == 4 || d->bits == 8;
    if (d->compression != PLAIN && d->compression != BY_MASKS && d->compression != BY_FOUR_MASKS) {
        return fail(reader, "compressed BMP files are not read: convert it to PNG");
    }
    if (!d->has_palette && d->bits != 16 && d->bits != 24 && d->bits != 32) {
        return fail(reader, "an unknown number of bits");
    }
    return d->has_palette ? read_palette(reader) : read_masks(reader);
}

/* All rows lie in the file. */
static bool check_rows(UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    if (!image_file_seek(&reader->file, 0, SEEK_END)) {
        return fail(reader, "its length is not known");
    }
    const off_t length = image_file_place(&reader->file);
    if (d->data < FILE_HEADER || d->data > length ||
        (uint64_t)(length - d->data) / d->stride < (uint64_t)reader->shape.height) {
        reader->cut_short = true;
        return fail(reader, "its last rows are missing");
    }
    return true;
}

static UnetStatus open_bmp(UnetImageReader *reader, UnetError *error) {
    Decoder *d = reader->decoder = image_memory_take_zeroed(reader->memory, sizeof *d);
    if (d == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    if (!read_header(reader) || !check_rows(reader)) {
        return image_fail_decoding(reader, error);
    }
    reader->shape.palette = d->has_palette;
    reader->shape.channels = d->has_palette && d->is_grey ? 1 : 3;
    reader->shape.traits = d->bits == 32 && d->mask[3] != 0 ? UNET_IMAGE_ALPHA : 0;
    reader->row_bytes = d->stride;
    return UNET_OK;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool begin_bmp(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    reader->stored_channels =
        reader->classes && d->has_palette ? 1 : reader->shape.channels + (reader->keeps_alpha ? 1 : 0);
    reader->row_bytes = (size_t)reader->shape.width * (size_t)reader->stored_channels;
    d->row = image_memory_take(reader->memory, d->stride);
    return d->row != NULL || fail(reader, "out of memory");
}

static uint8_t masked(uint32_t point, uint32_t mask) {
    if (mask == 0) {
        return 0;
    }
    const uint32_t lowest = mask & (~mask + 1), most = mask / lowest, value = (point & mask) / lowest;
    return (uint8_t)(((uint64_t)value * UINT8_MAX + most / 2) / most);
}

static bool take_index(UnetImageReader *reader, int32_t x, uint8_t **to) {
    const Decoder *d = reader->decoder;
    const size_t bit = (size_t)x * (size_t)d->bits;
    const uint32_t index =
        (uint32_t)d->row[bit / 8] >> (8 - (size_t)d->bits - bit % 8) & ((1u << d->bits) - 1);
    if (reader->classes) {
        *(*to)++ = (uint8_t)index;
        return true;
    }
    if (index >= d->colours) {
        return fail(reader, "a colour beyond the palette");
    }
    memcpy(*to, d->palette[index], (size_t)reader->stored_channels);
    *to += reader->stored_channels;
    return true;
}

static bool decode_row(UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    const int32_t y = reader->next_row, row = d->from_above ? y : reader->shape.height - 1 - y;
    uint8_t *to = reader->rows;
    if (!read_at(reader, d->data + (off_t)row * (off_t)d->stride, d->row, d->stride)) {
        return false;
    }
    for (int32_t x = 0; x < reader->shape.width; x++) {
        if (d->has_palette) {
            if (!take_index(reader, x, &to)) {
                return false;
            }
            continue;
        }
        const size_t bytes = (size_t)d->bits / 8;
        const uint32_t point = little(d->row + (size_t)x * bytes, (int)bytes);
        for (int32_t c = 0; c < reader->stored_channels; c++) {
            *to++ = masked(point, d->mask[c]);
        }
    }
    return true;
}

/* The places of its rows were checked when it was opened. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

static void close_bmp(UnetImageReader *reader) {
    image_memory_give(reader->memory, ((Decoder *)reader->decoder)->row);
}

const ImageFormat image_bmp = {.name = "BMP",
                               .most_expansion = 2,
                               .is = is_bmp,
                               .open = open_bmp,
                               .begin = begin_bmp,
                               .decode_row = decode_row,
                               .is_complete = is_complete,
                               .close = close_bmp};
