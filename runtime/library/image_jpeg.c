/* image_jpeg.c - JPEG images, decoded through libjpeg, as Pillow and OpenCV decode them: to RGB, with the
 * accurate integer transform and smooth chroma.
 *
 * libjpeg reports failure by longjmp, as libpng does: see image_png.c.  It only warns of damaged data, and
 * goes on with grey: here most warnings are failures. */
#include "exif.h"
#include "image_format.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum { EXIF_MARKER = JPEG_APP0 + 1, MARKER_BYTES = 0xffff };

typedef struct {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf failed;
    UnetImageReader *reader;
    bool started, created;
} Decoder;

/* ---- what libjpeg calls ----------------------------------------------------------------------- */

_Noreturn static void on_error(j_common_ptr jpeg) {
    Decoder *d = jpeg->client_data;
    char reason[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, reason);
    snprintf(d->reader->reason, sizeof d->reader->reason, "%.150s", reason);
    longjmp(d->failed, 1);
}

/* Bytes that do not belong to the image, and marks of other programs, touch no number. */
static bool is_harmless(int code) {
    return code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR;
}

static void on_message(j_common_ptr jpeg, int level) {
    Decoder *d = jpeg->client_data;
    if (level >= 0 || is_harmless(jpeg->err->msg_code)) {
        return;
    }
    d->reader->cut_short |= jpeg->err->msg_code == JWRN_JPEG_EOF;
    on_error(jpeg);
}

/* ---- opening ---------------------------------------------------------------------------------- */

static bool is_jpeg(const uint8_t *signature) {
    return signature[0] == 0xff && signature[1] == 0xd8 && signature[2] == 0xff;
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (setjmp(d->failed) != 0) {
        return false;
    }
    jpeg_create_decompress(&d->jpeg);
    d->created = true;
    jpeg_stdio_src(&d->jpeg, reader->file);
    jpeg_save_markers(&d->jpeg, EXIF_MARKER, MARKER_BYTES);
    (void)jpeg_read_header(&d->jpeg, TRUE);
    return true;
}

static bool is_turned(const Decoder *d) {
    static const uint8_t start[] = {'E', 'x', 'i', 'f', 0, 0};
    for (jpeg_saved_marker_ptr m = d->jpeg.marker_list; m != NULL; m = m->next) {
        if (m->marker == EXIF_MARKER && m->data_length > sizeof start &&
            memcmp(m->data, start, sizeof start) == 0) {
            return exif_turns(m->data + sizeof start, m->data_length - sizeof start);
        }
    }
    return false;
}

/* The coefficients of a progressive file, of two bytes each. */
static int32_t held_rows(Decoder *d) {
    return jpeg_has_multiple_scans(&d->jpeg) ? 2 * (int32_t)d->jpeg.image_height : 0;
}

static UnetStatus open_jpeg(UnetImageReader *reader, UnetError *error) {
    Decoder *d = reader->decoder = calloc(1, sizeof *d);
    if (d == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    d->reader = reader;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->jpeg.client_data = d;
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    rewind(reader->file);
    if (!read_header(reader)) {
        return image_fail_decoding(reader, error);
    }
    const J_COLOR_SPACE colours = d->jpeg.jpeg_color_space;
    if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB) {
        return image_fail(reader, error, "a JPEG file in CMYK: convert it to RGB");
    }
    if (d->jpeg.image_width > INT32_MAX || d->jpeg.image_height > INT32_MAX) {
        return image_fail(reader, error, "too large");
    }
    const int32_t channels = colours == JCS_GRAYSCALE ? 1 : 3;
    reader->shape = (UnetImageInfo){.width = (int32_t)d->jpeg.image_width,
                                    .height = (int32_t)d->jpeg.image_height,
                                    .channels = channels,
                                    .bits = 8,
                                    .held_rows = held_rows(d),
                                    .traits = is_turned(d) ? UNET_IMAGE_TURNED : 0};
    reader->row_bytes = (size_t)d->jpeg.image_width * (size_t)channels;
    return UNET_OK;
}

static bool begin_jpeg(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    const bool grey = d->jpeg.jpeg_color_space == JCS_GRAYSCALE;
    d->jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    d->jpeg.dct_method = JDCT_ISLOW;
    reader->stored_channels = grey ? 1 : 3;
    return true;
}

static void close_jpeg(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (d->created && setjmp(d->failed) == 0) {
        jpeg_destroy_decompress(&d->jpeg);
    }
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool decode_row(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (setjmp(d->failed) != 0) {
        return false;
    }
    if (!d->started) {
        (void)jpeg_start_decompress(&d->jpeg);
        d->started = true;
    }
    JSAMPROW row = reader->rows;
    return jpeg_read_scanlines(&d->jpeg, &row, 1) == 1;
}

/* Whether there is an end mark.  Cameras put previews in front of the image and films behind it, so the
 * last mark is looked for; a damaged image is found when it is decoded. */
static bool is_complete(FILE *file) {
    enum { BLOCK = 1 << 16 };
    static const uint8_t end[] = {0xff, 0xd9};
    uint8_t bytes[BLOCK + 1];
    if (fseeko(file, 0, SEEK_END) != 0) {
        return false;
    }
    for (off_t at = ftello(file), begin; at > 0; at = begin) {
        begin = at > BLOCK ? at - BLOCK : 0;
        size_t count = (size_t)(at - begin) + (begin + BLOCK == at);
        if (fseeko(file, begin, SEEK_SET) != 0) {
            return false;
        }
        count = fread(bytes, 1, count, file);
        for (size_t i = 1; i < count; i++) {
            if (memcmp(bytes + i - 1, end, sizeof end) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A block of 64 points takes two bits at least. */
const ImageFormat image_jpeg = {.name = "JPEG",
                                .most_expansion = 3 * 64 * 8,
                                .is = is_jpeg,
                                .open = open_jpeg,
                                .begin = begin_jpeg,
                                .decode_row = decode_row,
                                .is_complete = is_complete,
                                .close = close_jpeg};
