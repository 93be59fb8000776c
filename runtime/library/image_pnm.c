/* image_pnm.c - Netpbm's formats: bits (P1, P4), grey (P2, P5) and colours (P3, P6), as text or as bytes,
 * and the floats of PFM (Pf, PF), whose rows come from below. */
#include "image_format.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char kind; /* '1' to '6', 'f', 'F' */
    uint32_t most;
    bool big_endian; /* floats */
    off_t data;
    size_t stride; /* bytes of a row in the file; 0: it is text */
    uint8_t *row;  /* one of them */
} Decoder;

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

static bool is_pnm(const uint8_t *signature) {
    return signature[0] == 'P' && signature[1] != '\0' && strchr("123456fF", signature[1]) != NULL &&
           (isspace(signature[2]) || signature[2] == '#');
}

/* ---- the header ------------------------------------------------------------------------------- */

static int next_byte(UnetImageReader *reader) {
    uint8_t byte;
    return image_file_read(&reader->file, &byte, 1) == 1 ? byte : EOF;
}

/* The next word, behind blanks and comments, and the one blank behind it. */
static bool read_word(UnetImageReader *reader, char word[24]) {
    int byte = next_byte(reader);
    size_t length = 0;
    while (byte == '#' || (byte != EOF && isspace(byte))) {
        while (byte == '#' && byte != EOF) {
            do {
                byte = next_byte(reader);
            } while (byte != EOF && byte != '\n');
        }
        byte = byte == EOF ? EOF : next_byte(reader);
    }
    for (; byte != EOF && !isspace(byte) && length < 23; byte = next_byte(reader)) {
        word[length++] = (char)byte;
    }
    word[length] = '\0';
    reader->cut_short |= length == 0;
    return length > 0 && (byte == EOF || isspace(byte));
}

static bool read_number(UnetImageReader *reader, uint32_t most, uint32_t *number) {
    char word[24], *end;
    if (!read_word(reader, word) || !isdigit((unsigned char)*word)) {
        return fail(reader, "a number is missing");
    }
    const unsigned long value = strtoul(word, &end, 10);
    *number = (uint32_t)value;
    return (*end == '\0' && value <= most) || fail(reader, "a number is too large");
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    char word[24];
    uint32_t width, height;
    (void)image_file_seek(&reader->file, 1, SEEK_SET);
    d->kind = (char)next_byte(reader);
    if (!read_number(reader, INT32_MAX, &width) || !read_number(reader, INT32_MAX, &height)) {
        return false;
    }
    d->most = 1;
    if (d->kind == 'f' || d->kind == 'F') {
        if (!read_word(reader, word)) {
            return fail(reader, "its scale is missing");
        }
        d->big_endian = *word != '-';
    } else if (d->kind != '1' && d->kind != '4' && !read_number(reader, UINT16_MAX, &d->most)) {
        return false;
    }
    d->data = image_file_place(&reader->file);
    reader->shape = (UnetImageInfo){.width = (int32_t)width, .height = (int32_t)height};
    return (width > 0 && height > 0 && d->most > 0) || fail(reader, "its size is no size");
}

static bool is_float(const Decoder *d) {
    return d->kind == 'f' || d->kind == 'F';
}

static bool is_bits(const Decoder *d) {
    return d->kind == '1' || d->kind == '4';
}

static void find_shape(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    UnetImageInfo *shape = &reader->shape;
    shape->channels = d->kind == '3' || d->kind == '6' || d->kind == 'F' ? 3 : 1;
    shape->bits = is_float(d) ? 32 : d->most > UINT8_MAX ? 16 : 8;
    const size_t numbers = (size_t)shape->width * (size_t)shape->channels;
    d->stride = d->kind >= '1' && d->kind <= '3' ? 0
                : d->kind == '4'                 ? ((size_t)shape->width + 7) / 8
                                                 : numbers * (size_t)(shape->bits / 8);
    reader->row_bytes = numbers * (size_t)(shape->bits / 8);
}

/* All rows lie in the file; text is longer than a character for each number. */
static bool check_rows(UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    const size_t least =
        d->stride > 0 ? d->stride : (size_t)reader->shape.width * (size_t)reader->shape.channels;
    if (!image_file_seek(&reader->file, 0, SEEK_END)) {
        return fail(reader, "its length is not known");
    }
    const off_t length = image_file_place(&reader->file);
    if (least == 0 || (uint64_t)(length - d->data) / least < (uint64_t)reader->shape.height) {
        reader->cut_short = true;
        return fail(reader, "its last rows are missing");
    }
    return image_file_seek(&reader->file, d->data, SEEK_SET) || fail(reader, "it cannot be read");
}

static UnetStatus open_pnm(UnetImageReader *reader, UnetError *error) {
    reader->decoder = image_memory_take_zeroed(reader->memory, sizeof(Decoder));
    if (reader->decoder == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    if (!read_header(reader)) {
        return image_fail_decoding(reader, error);
    }
    find_shape(reader);
    return check_rows(reader) ? UNET_OK : image_fail_decoding(reader, error);
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool begin_pnm(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    reader->stored_channels = reader->shape.channels;
    if (d->stride == 0) {
        return true;
    }
    d->row = image_memory_take(reader->memory, d->stride);
    return d->row != NULL || fail(reader, "out of memory");
}

/* A bit of text needs no blank around it. */
static bool read_bit(UnetImageReader *reader, uint32_t *bit) {
    int byte = next_byte(reader);
    while (byte != EOF && isspace(byte)) {
        byte = next_byte(reader);
    }
    reader->cut_short |= byte == EOF;
    *bit = byte == '1';
    return byte == '0' || byte == '1' || fail(reader, "a bit is missing");
}

/* Number I of the row. */
static bool take_number(UnetImageReader *reader, size_t i, uint32_t *number) {
    const Decoder *d = reader->decoder;
    if (d->kind == '1') {
        return read_bit(reader, number);
    }
    if (d->stride == 0) {
        return read_number(reader, d->most, number);
    }
    if (d->kind == '4') {
        *number = (uint32_t)d->row[i / 8] >> (7 - i % 8) & 1;
    } else if (reader->shape.bits == 16) {
        *number = (uint32_t)d->row[2 * i] << 8 | d->row[2 * i + 1];
    } else {
        *number = d->row[i];
    }
    return *number <= d->most || fail(reader, "a number is larger than its header says");
}

/* Out of 255 or 65535; classes as they are, and a bit is black. */
static uint32_t scaled(const UnetImageReader *reader, uint32_t number) {
    const Decoder *d = reader->decoder;
    const uint32_t most = reader->shape.bits == 16 ? UINT16_MAX : UINT8_MAX;
    if (reader->classes) {
        return number;
    }
    number = is_bits(d) ? 1 - number : number;
    return (number * most + d->most / 2) / d->most;
}

static void take_floats(const UnetImageReader *reader) {
    const Decoder *d = reader->decoder;
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    const bool swapped = d->big_endian == (low != 0);
    for (size_t i = 0; i < d->stride; i++) {
        reader->rows[i] = d->row[swapped ? i - i % 4 + 3 - i % 4 : i];
    }
}

static bool decode_row(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const int32_t y = reader->next_row;
    uint8_t *to = reader->rows;
    if (is_float(d)) {
        const off_t row = reader->shape.height - 1 - y;
        (void)image_file_seek(&reader->file, d->data + row * (off_t)d->stride, SEEK_SET);
    }
    if (d->stride > 0 && image_file_read(&reader->file, d->row, d->stride) != d->stride) {
        reader->cut_short = true;
        return fail(reader, "its last rows are missing");
    }
    if (is_float(d)) {
        take_floats(reader);
        return true;
    }
    for (size_t i = 0; i < (size_t)reader->shape.width * (size_t)reader->stored_channels; i++) {
        uint32_t number;
        if (!take_number(reader, i, &number)) {
            return false;
        }
        number = scaled(reader, number);
        if (reader->shape.bits == 16) {
            *to++ = (uint8_t)(number >> 8);
        }
        *to++ = (uint8_t)number;
    }
    return true;
}

/* The places of its rows were checked when it was opened. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

static void close_pnm(UnetImageReader *reader) {
    image_memory_give(reader->memory, ((Decoder *)reader->decoder)->row);
}

/* A byte is eight bits, each of them a byte. */
const ImageFormat image_pnm = {.name = "Netpbm",
                               .most_expansion = 16,
                               .is = is_pnm,
                               .open = open_pnm,
                               .begin = begin_pnm,
                               .decode_row = decode_row,
                               .is_complete = is_complete,
                               .close = close_pnm};
