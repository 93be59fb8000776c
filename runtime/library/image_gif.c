/* image_gif.c - the first picture of a GIF file, through a palette of up to 256 colours.
 *
 *     header, screen, palette, blocks of extensions ..., picture, [palette], codes in blocks of 1 to 255
 * bytes
 *
 * Its codes are those of Lempel, Ziv and Welch: each stands for a string of points, and each code read
 * makes a new one of the string before and one point more.  Strings are kept as (string before, last
 * point), and a row is filled string by string.  Animations are refused where the first picture does not
 * fill the screen.
 */
#include "image_format.h"

#include <stdlib.h>
#include <string.h>

enum { COLOURS = 256, MOST_BITS = 12, CODES = 1 << MOST_BITS, NONE = CODES };

typedef struct {
    uint8_t palette[COLOURS][3];
    int32_t colours;
    bool grey;    /* every colour of the palette is */
    bool indices; /* rows are of the numbers in the file */
    /* the bits of the data */
    uint32_t bits;
    int held;
    int32_t block; /* bytes left of the block */
    /* codes */
    int root, size; /* bits of a point, and of a code now */
    int32_t next;   /* the code that is made next */
    int32_t before; /* the code before, or NONE */
    uint16_t prefix[CODES];
    uint8_t last[CODES], first[CODES];
    uint8_t string[CODES]; /* the points of a code that do not stand in a row yet, last one first */
    int32_t waiting;
} Decoder;

static bool is_gif(const uint8_t *signature) {
    return memcmp(signature, "GIF87a", 6) == 0 || memcmp(signature, "GIF89a", 6) == 0;
}

static bool fail(UnetImageReader *reader, bool cut_short, const char *why) {
    reader->cut_short = cut_short;
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

static bool read_bytes(UnetImageReader *reader, void *bytes, size_t count) {
    return fread(bytes, 1, count, reader->file) == count || fail(reader, true, "the file ends");
}

/* ---- the header ------------------------------------------------------------------------------- */

static int32_t number(const uint8_t *bytes) {
    return bytes[0] | bytes[1] << 8;
}

/* FLAGS: of the screen or of the picture. */
static bool read_palette(UnetImageReader *reader, uint8_t flags) {
    Decoder *d = reader->decoder;
    if ((flags & 0x80) == 0) {
        return true;
    }
    d->colours = 2 << (flags & 7);
    d->grey = true;
    if (!read_bytes(reader, d->palette, 3 * (size_t)d->colours)) {
        return false;
    }
    for (int32_t i = 0; i < d->colours; i++) {
        d->grey = d->grey && d->palette[i][0] == d->palette[i][1] && d->palette[i][0] == d->palette[i][2];
    }
    return true;
}

static bool skip_blocks(UnetImageReader *reader) {
    uint8_t length = 0;
    do {
        if (!read_bytes(reader, &length, 1) || fseeko(reader->file, length, SEEK_CUR) != 0) {
            return fail(reader, true, "the file ends in an extension");
        }
    } while (length > 0);
    return true;
}

/* To the head of the first picture. */
static bool find_picture(UnetImageReader *reader) {
    for (;;) {
        uint8_t kind[2];
        if (!read_bytes(reader, kind, 1)) {
            return false;
        }
        if (kind[0] == 0x2c) {
            return true;
        }
        if (kind[0] != 0x21) {
            return fail(reader, false, "it has no picture");
        }
        if (!read_bytes(reader, kind + 1, 1) || !skip_blocks(reader)) {
            return false;
        }
    }
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    uint8_t screen[13], picture[9], root;
    rewind(reader->file);
    if (!read_bytes(reader, screen, sizeof screen) || !read_palette(reader, screen[10]) ||
        !find_picture(reader) || !read_bytes(reader, picture, sizeof picture) ||
        !read_palette(reader, picture[8]) || !read_bytes(reader, &root, 1)) {
        return false;
    }
    const int32_t width = number(picture + 4), height = number(picture + 6);
    if (d->colours == 0 || root < 1 || root > 8 || width == 0 || height == 0) {
        return fail(reader, false, "it has no palette, no points or wrong codes");
    }
    if (number(picture) != 0 || number(picture + 2) != 0 || width != number(screen + 6) ||
        height != number(screen + 8)) {
        return fail(reader, false, "its first picture does not fill the screen");
    }
    d->root = root;
    reader->shape = (UnetImageInfo){.width = width,
                                    .height = height,
                                    .channels = d->grey ? 1 : 3,
                                    .bits = 8,
                                    .palette = true,
                                    .interlaced = (picture[8] & 0x40) != 0};
    reader->row_bytes = (size_t)width * (d->grey ? 1 : 3);
    return true;
}

static UnetStatus open_gif(UnetImageReader *reader, UnetError *error) {
    reader->decoder = calloc(1, sizeof(Decoder));
    if (reader->decoder == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    return read_header(reader) ? UNET_OK : image_fail_decoding(reader, error);
}

/* ---- codes ------------------------------------------------------------------------------------ */

static void clear_codes(Decoder *d) {
    d->size = d->root + 1;
    d->next = (1 << d->root) + 2;
    d->before = NONE;
}

static bool begin_gif(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    d->indices = reader->classes;
    reader->stored_channels = d->indices || d->grey ? 1 : 3;
    reader->row_bytes = (size_t)reader->shape.width * (size_t)reader->stored_channels;
    for (int i = 0; i < 1 << d->root; i++) {
        d->last[i] = d->first[i] = (uint8_t)i;
        d->prefix[i] = NONE;
    }
    clear_codes(d);
    return true;
}

static bool read_code(UnetImageReader *reader, int32_t *code) {
    Decoder *d = reader->decoder;
    while (d->held < d->size) {
        uint8_t byte;
        if (d->block == 0) {
            if (!read_bytes(reader, &byte, 1)) {
                return false;
            }
            d->block = byte;
            if (byte == 0) {
                return fail(reader, true, "the codes end");
            }
        }
        if (!read_bytes(reader, &byte, 1)) {
            return false;
        }
        d->block--;
        d->bits |= (uint32_t)byte << d->held;
        d->held += 8;
    }
    *code = (int32_t)(d->bits & ((1U << d->size) - 1));
    d->bits >>= d->size;
    d->held -= d->size;
    return true;
}

/* The code that is made of the string before and the first point of this one. */
static void make_code(Decoder *d, uint8_t point) {
    if (d->before == NONE || d->next >= CODES) {
        return;
    }
    d->prefix[d->next] = (uint16_t)d->before;
    d->first[d->next] = d->first[d->before];
    d->last[d->next] = point;
    d->next++;
    if (d->next == 1 << d->size && d->size < MOST_BITS) {
        d->size++;
    }
}

/* The next string, to d->string. */
static bool read_string(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const int32_t clear = 1 << d->root;
    int32_t code;
    do {
        if (!read_code(reader, &code)) {
            return false;
        }
        if (code == clear) {
            clear_codes(d);
        }
    } while (code == clear);
    if (code == clear + 1) {
        return fail(reader, true, "the codes end");
    }
    if (code > d->next || (code == d->next && d->before == NONE) || (code == d->next && d->next >= CODES)) {
        return fail(reader, false, "a code that stands for nothing");
    }
    make_code(d, d->first[code == d->next ? d->before : code]);
    d->before = code;
    for (int32_t at = code; at != NONE; at = d->prefix[at]) {
        d->string[d->waiting++] = d->last[at];
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static void store_point(const Decoder *d, uint8_t index, uint8_t *row, int32_t x) {
    if (d->indices) {
        row[x] = index;
    } else if (d->grey) {
        row[x] = d->palette[index][0];
    } else {
        memcpy(row + 3 * (size_t)x, d->palette[index], 3);
    }
}

static bool decode_into(UnetImageReader *reader, uint8_t *row) {
    Decoder *d = reader->decoder;
    for (int32_t x = 0; x < reader->shape.width; x++) {
        if (d->waiting == 0 && !read_string(reader)) {
            return false;
        }
        const uint8_t index = d->string[--d->waiting];
        if (index >= d->colours && !d->indices) {
            return fail(reader, false, "a colour beyond the palette");
        }
        store_point(d, index, row, x);
    }
    return true;
}

static bool decode_row(UnetImageReader *reader) {
    return decode_into(reader, reader->rows);
}

/* Every eighth row, those in between, then every second and the rest. */
static bool decode_all(UnetImageReader *reader) {
    static const int32_t start[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    for (int pass = 0; pass < 4; pass++) {
        for (int32_t y = start[pass]; y < reader->shape.height; y += step[pass]) {
            if (!decode_into(reader, reader->rows + (size_t)y * reader->row_bytes)) {
                return false;
            }
        }
    }
    return true;
}

/* Some programs leave zeros behind the end mark. */
static bool is_complete(FILE *file) {
    int byte = 0;
    for (off_t back = 1; byte == 0 && back <= 64 && fseeko(file, -back, SEEK_END) == 0; back++) {
        byte = fgetc(file);
    }
    return byte == 0x3b;
}

static void close_gif(UnetImageReader *reader) {
    (void)reader;
}

/* A code of 12 bits stands for at most as many points as there are codes. */
const ImageFormat image_gif = {.name = "GIF",
                               .most_expansion = 3 * CODES,
                               .is = is_gif,
                               .open = open_gif,
                               .begin = begin_gif,
                               .decode_row = decode_row,
                               .decode_all = decode_all,
                               .is_complete = is_complete,
                               .close = close_gif};
