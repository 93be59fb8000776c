/* image_png_write.c - PNG images, encoded through libpng; see image_png.c for how its longjmp is met. */
#include "image_format.h"

#include <png.h>
#include <stdlib.h>

/* The level of zlib.  Photographs of 12 megapixels take a third of the time of its default, and are 2 %
 * larger. */
enum { LEVEL = 4 };

typedef struct {
    png_structp png;
    png_infop info;
} Encoder;

/* ---- what libpng calls ------------------------------------------------------------------------ */

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

static void set_palette(const Encoder *e) {
    png_color palette[PNG_MAX_PALETTE_LENGTH];
    for (int32_t k = 0; k < PNG_MAX_PALETTE_LENGTH; k++) {
        uint8_t rgb[3];
        unet_class_colour(k, rgb);
        palette[k] = (png_color){rgb[0], rgb[1], rgb[2]};
    }
    png_set_PLTE(e->png, e->info, palette, PNG_MAX_PALETTE_LENGTH);
}

static bool write_header(UnetImageWriter *writer) {
    const Encoder *e = writer->state;
    const UnetImageInfo *shape = &writer->shape;
    const int colour = shape->palette         ? PNG_COLOR_TYPE_PALETTE
                       : shape->channels == 3 ? PNG_COLOR_TYPE_RGB
                                              : PNG_COLOR_TYPE_GRAY;
    if (setjmp(png_jmpbuf(e->png)) != 0) {
        return false;
    }
    png_set_write_fn(e->png, writer, on_write, on_flush);
    png_set_IHDR(e->png, e->info, (png_uint_32)shape->width, (png_uint_32)shape->height, shape->bits,
                 colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (shape->palette) {
        set_palette(e);
    }
    png_set_compression_level(e->png, LEVEL);
    png_write_info(e->png, e->info);
    return true;
}

static bool begin_png(UnetImageWriter *writer) {
    Encoder *e = writer->state = calloc(1, sizeof *e);
    if (e == NULL) {
        return false;
    }
    e->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, on_error, on_warning);
    e->info = e->png != NULL ? png_create_info_struct(e->png) : NULL;
    return e->info != NULL && write_header(writer);
}

static bool write_row(UnetImageWriter *writer) {
    const Encoder *e = writer->state;
    if (setjmp(png_jmpbuf(e->png)) != 0) {
        return false;
    }
    png_write_row(e->png, writer->row);
    return true;
}

static bool write_end(UnetImageWriter *writer) {
    const Encoder *e = writer->state;
    if (setjmp(png_jmpbuf(e->png)) != 0) {
        return false;
    }
    png_write_end(e->png, e->info);
    return true;
}

static void close_png(UnetImageWriter *writer) {
    Encoder *e = writer->state;
    if (e != NULL) {
        png_destroy_write_struct(&e->png, &e->info);
    }
    free(e);
}

const ImageEncoder image_png_encoder = {
    .begin = begin_png, .write_row = write_row, .end = write_end, .close = close_png};
