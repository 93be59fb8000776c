/* image_gif.c - the first picture of a GIF file, decoded through giflib: numbers of a palette of up to 256
 * colours.
 *
 * Animations are refused where the first picture does not fill the screen.  An interlaced picture is
 * decoded at once, any other row by row.
 */
#include "image_format.h"

#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

enum { MOST_BITS = 12, CODES = 1 << MOST_BITS };

typedef struct {
    GifFileType *gif;
    GifPixelType *row; /* numbers of the palette */
    const ColorMapObject *palette;
    bool grey;    /* every colour of the palette is */
    bool indices; /* rows are of the numbers in the file */
} Decoder;

static bool is_gif(const uint8_t *signature) {
    return memcmp(signature, "GIF87a", 6) == 0 || memcmp(signature, "GIF89a", 6) == 0;
}

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

/* For what giflib says; of some failures it says nothing. */
static bool fail_reading(UnetImageReader *reader, int error) {
    const char *why = GifErrorString(error);
    reader->cut_short |= error == D_GIF_ERR_EOF_TOO_SOON;
    return fail(reader, why != NULL ? why : "its codes cannot be read");
}

/* ---- the header ------------------------------------------------------------------------------- */

/* Reads bytes for giflib. */
static int read_bytes(GifFileType *gif, GifByteType *bytes, int count) {
    UnetImageReader *reader = gif->UserData;
    const size_t got = image_file_read(&reader->file, bytes, (size_t)count);
    reader->cut_short |= got < (size_t)count;
    return (int)got;
}

static bool skip_extension(GifFileType *gif) {
    int kind;
    GifByteType *bytes;
    bool good = DGifGetExtension(gif, &kind, &bytes) == GIF_OK;
    while (good && bytes != NULL) {
        good = DGifGetExtensionNext(gif, &bytes) == GIF_OK;
    }
    return good;
}

/* Behind the head of the first picture. */
static bool find_picture(UnetImageReader *reader) {
    GifFileType *gif = ((Decoder *)reader->decoder)->gif;
    GifRecordType kind = EXTENSION_RECORD_TYPE;
    bool good = true;
    while (good && kind == EXTENSION_RECORD_TYPE) {
        good = DGifGetRecordType(gif, &kind) == GIF_OK &&
               (kind != EXTENSION_RECORD_TYPE || skip_extension(gif));
    }
    if (good && kind != IMAGE_DESC_RECORD_TYPE) {
        return fail(reader, "it has no picture");
    }
    return (good && DGifGetImageDesc(gif) == GIF_OK) || fail_reading(reader, gif->Error);
}

static bool is_grey(const ColorMapObject *palette) {
    bool grey = true;
    for (int i = 0; i < palette->ColorCount; i++) {
        const GifColorType *colour = &palette->Colors[i];
        grey = grey && colour->Red == colour->Green && colour->Red == colour->Blue;
    }
    return grey;
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    int error = 0;
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    d->gif = DGifOpen(reader, read_bytes, &error);
    if (d->gif == NULL) {
        return fail_reading(reader, error);
    }
    if (!find_picture(reader)) {
        return false;
    }
    const GifImageDesc *picture = &d->gif->Image;
    d->palette = picture->ColorMap != NULL ? picture->ColorMap : d->gif->SColorMap;
    if (d->palette == NULL || picture->Width <= 0 || picture->Height <= 0) {
        return fail(reader, "it has no palette or no points");
    }
    if (picture->Left != 0 || picture->Top != 0 || picture->Width != d->gif->SWidth ||
        picture->Height != d->gif->SHeight) {
        return fail(reader, "its first picture does not fill the screen");
    }
    d->grey = is_grey(d->palette);
    const int32_t channels = d->grey ? 1 : 3;
    reader->shape = (UnetImageInfo){.width = picture->Width,
                                    .height = picture->Height,
                                    .channels = channels,
                                    .bits = 8,
                                    .palette = true,
                                    .interlaced = picture->Interlace};
    reader->row_bytes = (size_t)picture->Width * (size_t)channels;
    return true;
}

static UnetStatus open_gif(UnetImageReader *reader, UnetError *error) {
    reader->decoder = image_memory_take_zeroed(reader->memory, sizeof(Decoder));
    if (reader->decoder == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    return read_header(reader) ? UNET_OK : image_fail_decoding(reader, error);
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool begin_gif(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const size_t width = (size_t)reader->shape.width;
    d->indices = reader->classes;
    reader->stored_channels = d->indices || d->grey ? 1 : 3;
    reader->row_bytes = width * (size_t)reader->stored_channels;
    d->row = image_memory_take(reader->memory, width);
    return d->row != NULL || fail(reader, "out of memory");
}

static bool decode_into(UnetImageReader *reader, uint8_t *row) {
    Decoder *d = reader->decoder;
    const int32_t width = reader->shape.width;
    if (DGifGetLine(d->gif, d->row, width) != GIF_OK) {
        return fail_reading(reader, d->gif->Error);
    }
    if (d->indices) {
        memcpy(row, d->row, (size_t)width);
        return true;
    }
    for (int32_t x = 0; x < width; x++) {
        if (d->row[x] >= d->palette->ColorCount) {
            return fail(reader, "a colour beyond the palette");
        }
        const GifColorType *colour = &d->palette->Colors[d->row[x]];
        *row++ = colour->Red;
        if (!d->grey) {
            *row++ = colour->Green;
            *row++ = colour->Blue;
        }
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
static bool is_complete(ImageFile *file) {
    uint8_t byte = 0;
    for (off_t back = 1; byte == 0 && back <= 64 && image_file_seek(file, -back, SEEK_END); back++) {
        if (image_file_read(file, &byte, 1) != 1) {
            return false;
        }
    }
    return byte == 0x3b;
}

static void close_gif(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (d->gif != NULL) {
        (void)DGifCloseFile(d->gif, NULL);
    }
    image_memory_give(reader->memory, d->row);
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
