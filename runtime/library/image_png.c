/* image_png.c - PNG images, decoded through libpng.
 *
 * libpng reports failure by longjmp.  Every function here that calls it sets its own jump target first and
 * keeps what it needs afterwards in the reader, never in a local variable. */
#include "exif.h"
#include "image_format.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PNG_SIGNATURE = 8, CHUNK_OVERHEAD = 12 };

typedef struct {
    png_structp png;
    png_infop info;
} Decoder;

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
    if (image_file_read(&reader->file, out, bytes) == bytes) {
        return;
    }
    if (reader->file.failure != 0) {
        png_error(png, strerror(reader->file.failure));
    }
    reader->cut_short = true;
    png_error(png, "end of file");
}

static png_voidp on_take(png_structp png, png_alloc_size_t bytes) {
    return image_memory_take(png_get_mem_ptr(png), bytes);
}

static void on_give(png_structp png, png_voidp block) {
    image_memory_give(png_get_mem_ptr(png), block);
}

/* ---- opening ---------------------------------------------------------------------------------- */

static bool is_png(const uint8_t *signature) {
    return png_sig_cmp(signature, 0, PNG_SIGNATURE) == 0;
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (setjmp(png_jmpbuf(d->png)) != 0) {
        return false;
    }
    png_set_read_fn(d->png, reader, on_read);
    png_read_info(d->png, d->info);
    return true;
}

/* Transparency of single colours or entries of a palette is dropped like alpha. */
static uint32_t traits(const Decoder *d, int32_t *turn) {
    uint32_t found = 0;
    if ((png_get_color_type(d->png, d->info) & PNG_COLOR_MASK_ALPHA) != 0 ||
        png_get_valid(d->png, d->info, PNG_INFO_tRNS) != 0) {
        found |= UNET_IMAGE_ALPHA;
    }
    *turn = 1;
#ifdef PNG_eXIf_SUPPORTED
    png_bytep exif = NULL;
    png_uint_32 bytes = 0;
    if (png_get_eXIf_1(d->png, d->info, &bytes, &exif) != 0 && exif_orientation(exif, bytes) > 1) {
        found |= UNET_IMAGE_TURNED;
        *turn = exif_orientation(exif, bytes);
    }
#endif
    return found;
}

static UnetStatus open_png(UnetImageReader *reader, UnetError *error) {
    Decoder *d = reader->decoder = image_memory_take_zeroed(reader->memory, sizeof *d);
    if (d != NULL) {
        d->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning,
                                          reader->memory, on_take, on_give);
        d->info = d->png != NULL ? png_create_info_struct(d->png) : NULL;
    }
    if (d == NULL || d->info == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    if (!read_header(reader)) {
        return image_fail_decoding(reader, error);
    }
    int colour = png_get_color_type(d->png, d->info);
    bool grey = (colour & PNG_COLOR_MASK_COLOR) == 0;
    reader->shape = (UnetImageInfo){
        .width = (int32_t)png_get_image_width(d->png, d->info),
        .height = (int32_t)png_get_image_height(d->png, d->info),
        .channels = grey ? 1 : 3,
        .bits = png_get_bit_depth(d->png, d->info) == 16 ? 16 : 8,
        .palette = colour == PNG_COLOR_TYPE_PALETTE,
        .interlaced = png_get_interlace_type(d->png, d->info) != PNG_INTERLACE_NONE,
        .traits = traits(d, &reader->turn),
    };
    reader->row_bytes = png_get_rowbytes(d->png, d->info);
    return UNET_OK;
}

static bool begin_png(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (setjmp(png_jmpbuf(d->png)) != 0) {
        return false;
    }
    if (reader->classes) {
        png_set_packing(d->png); /* few bits to a byte each, as they are */
    } else if (reader->shape.palette || png_get_bit_depth(d->png, d->info) < 8) {
        png_set_expand(d->png); /* palette to RGB, few bits to eight */
    }
    if (!reader->keeps_alpha) {
        png_set_strip_alpha(d->png);
    } else if (png_get_valid(d->png, d->info, PNG_INFO_tRNS) != 0) {
        png_set_expand(d->png);
        png_set_tRNS_to_alpha(d->png);
    }
    (void)png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    reader->stored_channels = png_get_channels(d->png, d->info);
    reader->row_bytes = png_get_rowbytes(d->png, d->info);
    return true;
}

static void close_png(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    png_destroy_read_struct(&d->png, &d->info, NULL);
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool decode_row(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (setjmp(png_jmpbuf(d->png)) != 0) {
        return false;
    }
    png_read_row(d->png, reader->rows, NULL);
    return true;
}

static bool decode_interlaced(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (setjmp(png_jmpbuf(d->png)) != 0) {
        return false;
    }
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        for (int32_t y = 0; y < reader->shape.height; y++) {
            png_read_row(d->png, reader->rows + (size_t)y * reader->row_bytes, NULL);
        }
    }
    return true;
}

/* ---- the end ---------------------------------------------------------------------------------- */

static bool read_at(ImageFile *file, off_t position, uint8_t *bytes, size_t count) {
    return image_file_seek(file, position, SEEK_SET) && image_file_read(file, bytes, count) == count;
}

/* Whether the chunks of the file lead to its end mark.  A file ends with it; only where something was
 * appended does it take a walk from chunk to chunk. */
static bool is_complete(ImageFile *file) {
    static const uint8_t end[CHUNK_OVERHEAD] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    uint8_t bytes[CHUNK_OVERHEAD];
    if (image_file_seek(file, -(off_t)sizeof bytes, SEEK_END) &&
        image_file_read(file, bytes, sizeof bytes) == sizeof bytes && memcmp(bytes, end, sizeof end) == 0) {
        return true;
    }
    off_t position = PNG_SIGNATURE;
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

/* No deflate stream expands further than about 1032 times. */
const ImageFormat image_png = {.name = "PNG",
                               .most_expansion = 1100,
                               .is = is_png,
                               .open = open_png,
                               .begin = begin_png,
                               .decode_row = decode_row,
                               .decode_all = decode_interlaced,
                               .is_complete = is_complete,
                               .close = close_png};
