/* image_write.c - PNG images, written row by row through libpng into an atomic file. */
#include "unet/image.h"
#include "unet/atomic_file.h"
#include "size_math.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct UnetImageWriter {
    png_structp png;
    png_infop info;
    UnetImageInfo shape;
    int32_t rows_written;
    UnetAtomicFile file;
    UnetError error; /* of the file, else libpng's */
    uint8_t row[];
};

/* ---- what libpng calls; see image_read.c for how its longjmp is met ---------------------------- */

static void on_error(png_structp png, png_const_charp message) {
    UnetImageWriter *writer = png_get_error_ptr(png);
    if (writer->error.text[0] == '\0') {
        (void)unet_fail(&writer->error, UNET_IO, "%s: cannot write: %s", writer->file.path, message);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void on_write(png_structp png, png_bytep bytes, size_t count) {
    UnetImageWriter *writer = png_get_io_ptr(png);
    if (unet_atomic_write(&writer->file, bytes, count, &writer->error) != UNET_OK) {
        png_error(png, "write");
    }
}

/* The file is synced once, at its end. */
static void on_flush(png_structp png) {
    (void)png;
}

/* ---- the file --------------------------------------------------------------------------------- */

/* Neighbouring classes differ in every colour: bits of the number, the lowest first, fill the colours from
 * their highest bit on. */
void unet_class_colour(int32_t class, uint8_t rgb[3]) {
    rgb[0] = rgb[1] = rgb[2] = 0;
    for (int32_t bit = 7; class > 0 && bit >= 0; bit--, class >>= 3) {
        for (int c = 0; c < 3; c++) {
            rgb[c] = (uint8_t)(rgb[c] | (class >> c & 1) << bit);
        }
    }
}

static void set_palette(UnetImageWriter *writer) {
    png_color palette[PNG_MAX_PALETTE_LENGTH];
    for (int32_t k = 0; k < PNG_MAX_PALETTE_LENGTH; k++) {
        uint8_t rgb[3];
        unet_class_colour(k, rgb);
        palette[k] = (png_color){rgb[0], rgb[1], rgb[2]};
    }
    png_set_PLTE(writer->png, writer->info, palette, PNG_MAX_PALETTE_LENGTH);
}

static bool write_header(UnetImageWriter *writer) {
    if (setjmp(png_jmpbuf(writer->png)) != 0) {
        return false;
    }
    const UnetImageInfo *shape = &writer->shape;
    int colour = shape->palette         ? PNG_COLOR_TYPE_PALETTE
                 : shape->channels == 3 ? PNG_COLOR_TYPE_RGB
                                        : PNG_COLOR_TYPE_GRAY;
    png_set_write_fn(writer->png, writer, on_write, on_flush);
    png_set_IHDR(writer->png, writer->info, (png_uint_32)shape->width, (png_uint_32)shape->height,
                 shape->bits, colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (shape->palette) {
        set_palette(writer);
    }
    png_write_info(writer->png, writer->info);
    return true;
}

static bool write_row(UnetImageWriter *writer) {
    if (setjmp(png_jmpbuf(writer->png)) != 0) {
        return false;
    }
    png_write_row(writer->png, writer->row);
    return true;
}

static bool write_end(UnetImageWriter *writer) {
    if (setjmp(png_jmpbuf(writer->png)) != 0) {
        return false;
    }
    png_write_end(writer->png, writer->info);
    return true;
}

static UnetStatus report(const UnetImageWriter *writer, UnetError *error) {
    return unet_fail(error, UNET_IO, "%s", writer->error.text);
}

static bool is_writable(const UnetImageInfo *info) {
    return info->width > 0 && info->height > 0 && (info->channels == 1 || info->channels == 3) &&
           (info->bits == 8 || info->bits == 16) &&
           !(info->palette && (info->channels == 3 || info->bits == 16));
}

UnetStatus unet_image_create(UnetImageWriter **writer, const char *path, const UnetImageInfo *info,
                             UnetError *error) {
    *writer = NULL;
    size_t row, bytes;
    if (!is_writable(info) ||
        !checked_mul((size_t)info->width, (size_t)(info->channels * info->bits / 8), &row) ||
        !checked_add(row, sizeof **writer, &bytes)) {
        return unet_fail(error, UNET_BUG, "%s: an image of this kind cannot be written", path);
    }
    UnetImageWriter *created = calloc(1, bytes);
    if (created == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    created->shape = *info;
    UnetStatus status = unet_atomic_open(&created->file, path, error);
    if (status != UNET_OK) {
        free(created);
        return status;
    }
    created->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, created, on_error, on_warning);
    created->info = created->png != NULL ? png_create_info_struct(created->png) : NULL;
    if (created->info == NULL) {
        status = unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    } else if (!write_header(created)) {
        status = report(created, error);
    }
    if (status != UNET_OK) {
        unet_image_discard(created);
        return status;
    }
    *writer = created;
    return UNET_OK;
}

/* VALUE clamped to 0..1 and scaled to 0..LARGEST, to the nearest whole number. */
static uint32_t quantise(float value, uint32_t largest) {
    if (!(value > 0.0f)) {
        return 0;
    }
    return value >= 1.0f ? largest : (uint32_t)((double)value * (double)largest + 0.5);
}

UnetStatus unet_image_write_row(UnetImageWriter *writer, const float *row, UnetError *error) {
    const UnetImageInfo *shape = &writer->shape;
    uint8_t *out = writer->row;
    if (writer->rows_written++ >= shape->height) {
        return unet_fail(error, UNET_BUG, "%s: written beyond its last row", writer->file.path);
    }
    for (int32_t x = 0; x < shape->width; x++) {
        for (int32_t c = 0; c < shape->channels; c++) {
            float value = row[(ptrdiff_t)c * shape->width + x];
            if (shape->palette) {
                *out++ = (uint8_t)value;
            } else if (shape->bits == 16) {
                uint32_t number = quantise(value, 65535);
                *out++ = (uint8_t)(number >> 8);
                *out++ = (uint8_t)number;
            } else {
                *out++ = (uint8_t)quantise(value, 255);
            }
        }
    }
    return write_row(writer) ? UNET_OK : report(writer, error);
}

static void destroy(UnetImageWriter *writer) {
    png_destroy_write_struct(&writer->png, &writer->info);
    free(writer);
}

UnetStatus unet_image_finish(UnetImageWriter *writer, UnetError *error) {
    UnetStatus status = UNET_OK;
    if (writer->rows_written != writer->shape.height) {
        status = unet_fail(error, UNET_BUG, "%s: finished after row %d of %d", writer->file.path,
                           writer->rows_written, writer->shape.height);
    } else if (!write_end(writer)) {
        status = report(writer, error);
    }
    if (status != UNET_OK) {
        unet_image_discard(writer);
        return status;
    }
    status = unet_atomic_commit(&writer->file, error);
    destroy(writer);
    return status;
}

void unet_image_discard(UnetImageWriter *writer) {
    if (writer != NULL) {
        unet_atomic_abandon(&writer->file);
        destroy(writer);
    }
}
