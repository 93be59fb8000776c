/* image_read.c - PNG images, read row by row through libpng.
 *
 * libpng reports failure by longjmp.  Every function here that calls it sets its own jump target first and
 * keeps what it needs afterwards in the reader, never in a local variable. */
#include "unet/image.h"
#include "size_math.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_POINTS = 1 << 28, SIGNATURE_BYTES = 8, CHUNK_OVERHEAD = 12 };

/* No deflate stream expands further than about 1032 times: a header that claims more is lying. */
enum { MAX_EXPANSION = 1100 };

struct UnetImageReader {
    png_structp png;
    png_infop info;
    FILE *file;
    UnetImageInfo shape;
    int32_t stored_channels; /* of a decoded row: 1 or 3 */
    int32_t next_row;
    size_t row_bytes;
    uint8_t *rows; /* one decoded row; all of them where the image is interlaced */
    bool cut_short;
    char reason[160]; /* libpng's */
    char path[];
};

static UnetStatus fail(const UnetImageReader *reader, UnetError *error, const char *why) {
    return unet_fail(error, UNET_IO, "%s: %s", reader->path, why);
}

/* libpng has given up; the reader is at its end. */
static UnetStatus fail_decoding(UnetImageReader *reader, UnetError *error) {
    const char *what = reader->cut_short ? "cut short" : "damaged";
    int32_t row = reader->next_row;
    reader->next_row = INT32_MAX;
    if (reader->rows == NULL) {
        return unet_fail(error, UNET_IO, "%s: %s in the header (%s)", reader->path, what, reader->reason);
    }
    if (reader->shape.interlaced) {
        return unet_fail(error, UNET_IO, "%s: %s (%s)", reader->path, what, reader->reason);
    }
    return unet_fail(error, UNET_IO, "%s: %s in row %d of %d (%s)", reader->path, what, row,
                     reader->shape.height, reader->reason);
}

/* ---- what libpng calls ------------------------------------------------------------------------ */

static void on_error(png_structp png, png_const_charp message) {
    UnetImageReader *reader = png_get_error_ptr(png);
    snprintf(reader->reason, sizeof reader->reason, "%s", message);
    png_longjmp(png, 1);
}

/* Whatever libpng only warns of does not touch the values. */
static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_read(png_structp png, png_bytep out, size_t bytes) {
    UnetImageReader *reader = png_get_io_ptr(png);
    errno = 0;
    if (fread(out, 1, bytes, reader->file) == bytes) {
        return;
    }
    if (ferror(reader->file)) {
        png_error(png, strerror(errno != 0 ? errno : EIO));
    }
    reader->cut_short = true;
    png_error(png, "end of file");
}

/* ---- opening ---------------------------------------------------------------------------------- */

static UnetStatus open_file(UnetImageReader *reader, UnetError *error) {
    reader->file = fopen(reader->path, "rbe");
    if (reader->file == NULL) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, strerror(errno));
    }
    uint8_t signature[SIGNATURE_BYTES];
    if (fread(signature, 1, sizeof signature, reader->file) != sizeof signature) {
        if (ferror(reader->file)) {
            return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, strerror(errno));
        }
        return fail(reader, error, "too short for a PNG file");
    }
    if (png_sig_cmp(signature, 0, sizeof signature) != 0) {
        return fail(reader, error, "not a PNG file");
    }
    return UNET_OK;
}

static bool read_header(UnetImageReader *reader) {
    if (setjmp(png_jmpbuf(reader->png)) != 0) {
        return false;
    }
    png_set_read_fn(reader->png, reader, on_read);
    png_set_sig_bytes(reader->png, SIGNATURE_BYTES);
    png_read_info(reader->png, reader->info);
    return true;
}

static void describe(UnetImageReader *reader) {
    int colour = png_get_color_type(reader->png, reader->info);
    bool grey = (colour & PNG_COLOR_MASK_COLOR) == 0;
    reader->shape = (UnetImageInfo){
        .width = (int32_t)png_get_image_width(reader->png, reader->info),
        .height = (int32_t)png_get_image_height(reader->png, reader->info),
        .channels = grey ? 1 : 3,
        .bits = png_get_bit_depth(reader->png, reader->info) == 16 ? 16 : 8,
        .palette = colour == PNG_COLOR_TYPE_PALETTE,
        .interlaced = png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE,
    };
}

static UnetStatus check_size(const UnetImageReader *reader, UnetError *error) {
    const UnetImageInfo *shape = &reader->shape;
    int64_t points = (int64_t)shape->width * shape->height;
    if (points > MAX_POINTS) {
        return unet_fail(error, UNET_IO, "%s: %d x %d points are too many (at most 2^28)", reader->path,
                         shape->height, shape->width);
    }
    struct stat status;
    if (fstat(fileno(reader->file), &status) != 0) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, strerror(errno));
    }
    uint64_t bytes = (png_get_rowbytes(reader->png, reader->info) + 1) * (uint64_t)shape->height;
    if (S_ISREG(status.st_mode) && bytes / MAX_EXPANSION > (uint64_t)status.st_size) {
        return unet_fail(error, UNET_IO, "%s: cut short: %lld bytes cannot hold %d x %d points",
                         reader->path, (long long)status.st_size, shape->height, shape->width);
    }
    return UNET_OK;
}

static UnetStatus check_channels(UnetImageReader *reader, int32_t channels, UnetError *error) {
    UnetImageInfo *shape = &reader->shape;
    if (channels == 1 && shape->channels == 3) {
        return fail(reader, error, "is in colour, and the model reads one channel");
    }
    if (channels != 0) {
        shape->channels = channels;
    }
    return UNET_OK;
}

static bool set_transforms(UnetImageReader *reader) {
    if (setjmp(png_jmpbuf(reader->png)) != 0) {
        return false;
    }
    if (reader->shape.palette || png_get_bit_depth(reader->png, reader->info) < 8) {
        png_set_expand(reader->png); /* palette to RGB, few bits to eight */
    }
    png_set_strip_alpha(reader->png);
    (void)png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    reader->stored_channels = png_get_channels(reader->png, reader->info);
    reader->row_bytes = png_get_rowbytes(reader->png, reader->info);
    return true;
}

static UnetStatus open_image(UnetImageReader *reader, int32_t channels, UnetError *error) {
    UnetStatus status = open_file(reader, error);
    if (status != UNET_OK) {
        return status;
    }
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
    reader->info = reader->png != NULL ? png_create_info_struct(reader->png) : NULL;
    if (reader->info == NULL) {
        return fail(reader, error, "out of memory");
    }
    if (!read_header(reader)) {
        return fail_decoding(reader, error);
    }
    describe(reader);
    status = check_size(reader, error);
    if (status == UNET_OK) {
        status = check_channels(reader, channels, error);
    }
    if (status == UNET_OK && !set_transforms(reader)) {
        status = fail_decoding(reader, error);
    }
    if (status != UNET_OK) {
        return status;
    }
    size_t sample = reader->shape.bits == 16 ? 2 : 1;
    size_t expected = (size_t)reader->shape.width * (size_t)reader->stored_channels * sample;
    if ((reader->stored_channels != 1 && reader->stored_channels != 3) || reader->row_bytes != expected) {
        return fail(reader, error, "an unknown kind of PNG file");
    }
    return UNET_OK;
}

UnetStatus unet_image_open(UnetImageReader **reader, const char *path, int32_t channels, UnetError *error) {
    size_t length = strlen(path) + 1;
    *reader = NULL;
    UnetImageReader *opened = calloc(1, sizeof *opened + length);
    if (opened == NULL) {
        return unet_fail(error, UNET_IO, "%s: out of memory", path);
    }
    memcpy(opened->path, path, length);
    UnetStatus status = open_image(opened, channels, error);
    if (status != UNET_OK) {
        unet_image_close(opened);
        return status;
    }
    *reader = opened;
    return UNET_OK;
}

void unet_image_close(UnetImageReader *reader) {
    if (reader == NULL) {
        return;
    }
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    if (reader->file != NULL) {
        (void)fclose(reader->file);
    }
    free(reader->rows);
    free(reader);
}

UnetImageInfo unet_image_info(const UnetImageReader *reader) {
    return reader->shape;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool decode_row(UnetImageReader *reader) {
    if (setjmp(png_jmpbuf(reader->png)) != 0) {
        return false;
    }
    png_read_row(reader->png, reader->rows, NULL);
    return true;
}

static bool decode_interlaced(UnetImageReader *reader) {
    if (setjmp(png_jmpbuf(reader->png)) != 0) {
        return false;
    }
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (int32_t y = 0; y < reader->shape.height; y++) {
            png_read_row(reader->png, reader->rows + (size_t)y * reader->row_bytes, NULL);
        }
    }
    return true;
}

/* Memory for rows is taken when the first one is asked for, so that probing takes none. */
static UnetStatus prepare_rows(UnetImageReader *reader, UnetError *error) {
    size_t bytes;
    size_t rows = reader->shape.interlaced ? (size_t)reader->shape.height : 1;
    if (!checked_mul(reader->row_bytes, rows, &bytes)) {
        return fail(reader, error, "too large");
    }
    reader->rows = calloc(1, bytes);
    if (reader->rows == NULL) {
        return fail(reader, error, "out of memory");
    }
    if (reader->shape.interlaced && !decode_interlaced(reader)) {
        return fail_decoding(reader, error);
    }
    return UNET_OK;
}

UnetStatus unet_image_decode_row(UnetImageReader *reader, UnetError *error) {
    if (reader->next_row >= reader->shape.height) {
        return unet_fail(error, UNET_BUG, "%s: read beyond its last row", reader->path);
    }
    if (reader->rows == NULL) {
        UnetStatus status = prepare_rows(reader, error);
        if (status != UNET_OK) {
            return status;
        }
    }
    if (!reader->shape.interlaced && !decode_row(reader)) {
        return fail_decoding(reader, error);
    }
    reader->next_row++;
    return UNET_OK;
}

const uint8_t *unet_image_bytes(const UnetImageReader *reader) {
    size_t row = reader->shape.interlaced ? (size_t)reader->next_row - 1 : 0;
    return reader->rows + row * reader->row_bytes;
}

UnetRowFormat unet_image_format(const UnetImageReader *reader) {
    return (UnetRowFormat){.width = reader->shape.width,
                           .channels = reader->shape.channels,
                           .stored = reader->stored_channels,
                           .bits = reader->shape.bits};
}

size_t unet_row_bytes(const UnetRowFormat *format) {
    return (size_t)format->width * (size_t)format->stored * (size_t)(format->bits / 8);
}

/* One channel of a row: COUNT numbers, the first one at FROM. */
static void convert(const UnetRowFormat *format, const uint8_t *from, int32_t count, float *to) {
    int32_t step = format->stored;
    if (format->bits == 8) {
        for (int32_t x = 0; x < count; x++) {
            to[x] = (float)from[x * step] / 255.0f;
        }
    } else {
        for (int32_t x = 0; x < count; x++) {
            const uint8_t *number = from + 2 * (ptrdiff_t)x * step;
            to[x] = (float)(number[0] << 8 | number[1]) / 65535.0f;
        }
    }
}

void unet_row_convert(const UnetRowFormat *format, const uint8_t *row, int32_t first, int32_t count,
                      float *values) {
    ptrdiff_t sample = format->bits / 8;
    for (int32_t c = 0; c < format->channels; c++) {
        float *channel = values + (ptrdiff_t)c * count;
        if (c < format->stored) {
            convert(format, row + ((ptrdiff_t)first * format->stored + c) * sample, count, channel);
        } else {
            memcpy(channel, values, (size_t)count * sizeof *values);
        }
    }
}

UnetStatus unet_image_read_row(UnetImageReader *reader, float *row, UnetError *error) {
    UnetStatus status = unet_image_decode_row(reader, error);
    if (status == UNET_OK) {
        UnetRowFormat format = unet_image_format(reader);
        unet_row_convert(&format, unet_image_bytes(reader), 0, format.width, row);
    }
    return status;
}

UnetStatus unet_image_skip_rows(UnetImageReader *reader, int32_t count, UnetError *error) {
    UnetStatus status = UNET_OK;
    for (int32_t i = 0; i < count && status == UNET_OK; i++) {
        status = unet_image_decode_row(reader, error);
    }
    return status;
}

/* ---- probing ---------------------------------------------------------------------------------- */

static bool read_at(FILE *file, off_t position, uint8_t *bytes, size_t count) {
    return fseeko(file, position, SEEK_SET) == 0 && fread(bytes, 1, count, file) == count;
}

/* Whether the chunks of the file lead to its end mark.  A file ends with it; only where something was
 * appended does it take a walk from chunk to chunk. */
static bool is_complete(FILE *file) {
    static const uint8_t end[CHUNK_OVERHEAD] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    uint8_t bytes[CHUNK_OVERHEAD];
    if (fseeko(file, -(off_t)sizeof bytes, SEEK_END) == 0 &&
        fread(bytes, 1, sizeof bytes, file) == sizeof bytes && memcmp(bytes, end, sizeof end) == 0) {
        return true;
    }
    off_t position = SIGNATURE_BYTES;
    while (read_at(file, position, bytes, sizeof bytes)) {
        if (memcmp(bytes, end, sizeof end) == 0) {
            return true;
        }
        uint32_t length =
            (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
        position += (off_t)length + CHUNK_OVERHEAD;
    }
    return false;
}

UnetStatus unet_image_check_end(UnetImageReader *reader, UnetError *error) {
    return is_complete(reader->file) ? UNET_OK : fail(reader, error, "cut short: it has no end mark");
}

UnetStatus unet_image_probe(const char *path, UnetImageInfo *info, UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open(&reader, path, 0, error);
    if (reader == NULL) {
        return status;
    }
    *info = reader->shape;
    status = unet_image_check_end(reader, error);
    unet_image_close(reader);
    return status;
}
