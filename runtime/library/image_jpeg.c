/* image_jpeg.c - JPEG images, decoded through libjpeg, as Pillow and OpenCV decode them: to RGB, with the
 * accurate integer transform and smooth chroma.
 *
 * libjpeg reports failure by longjmp, as libpng does: see image_png.c.  It only warns of damaged data, and
 * goes on with grey: here most warnings are failures. */
#include "exif.h"
#include "image_format.h"
#include "image_jpeg.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>

enum { EXIF_MARKER = JPEG_APP0 + 1, MARKER_BYTES = 0xffff };

/* Kept from image to image where memory is; reader->decoder has a pointer to it. */
typedef struct Jpeg {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf failed;
    UnetImageMemory *memory;
    UnetImageReader *reader;
    bool started, ready; /* ready: libjpeg's object is there, and takes memory from ours */
    struct Jpeg *next;   /* of the objects that are kept */
} Jpeg;

typedef struct {
    Jpeg *jpeg;
} Decoder;

/* ---- what libjpeg calls ----------------------------------------------------------------------- */

_Noreturn static void on_error(j_common_ptr jpeg) {
    Jpeg *d = jpeg->client_data;
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
    Jpeg *d = jpeg->client_data;
    if (level >= 0 || is_harmless(jpeg->err->msg_code)) {
        return;
    }
    d->reader->cut_short |= jpeg->err->msg_code == JWRN_JPEG_EOF;
    on_error(jpeg);
}

static void on_start(j_decompress_ptr jpeg) {
    (void)jpeg;
}

/* Hands over the next bytes of the file; at its end the mark that ends an image, about which libjpeg warns.
 */
static boolean on_fill(j_decompress_ptr jpeg) {
    static const JOCTET end[] = {0xff, JPEG_EOI};
    ImageFile *file = &((Jpeg *)jpeg->client_data)->reader->file;
    const bool is_empty = file->start + (off_t)file->count == 0;
    if (image_file_fill(file)) {
        jpeg->src->next_input_byte = file->bytes;
        jpeg->src->bytes_in_buffer = file->count;
        return TRUE;
    }
    if (is_empty) {
        ERREXIT(jpeg, JERR_INPUT_EMPTY);
    }
    WARNMS(jpeg, JWRN_JPEG_EOF);
    jpeg->src->next_input_byte = end;
    jpeg->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void on_skip(j_decompress_ptr jpeg, long count) {
    while (count > 0 && (size_t)count > jpeg->src->bytes_in_buffer) {
        count -= (long)jpeg->src->bytes_in_buffer;
        (void)on_fill(jpeg);
    }
    if (count > 0) {
        jpeg->src->next_input_byte += count;
        jpeg->src->bytes_in_buffer -= (size_t)count;
    }
}

/* ---- opening ---------------------------------------------------------------------------------- */

static bool is_jpeg(const uint8_t *signature) {
    return signature[0] == 0xff && signature[1] == 0xd8 && signature[2] == 0xff;
}

static bool read_header(UnetImageReader *reader) {
    Jpeg *d = ((Decoder *)reader->decoder)->jpeg;
    ImageFile *file = &reader->file;
    if (setjmp(d->failed) != 0) {
        return false;
    }
    if (!d->ready) {
        jpeg_create_decompress(&d->jpeg);
        if (!jpeg_memory_take_over(&d->jpeg, d->memory)) {
            ERREXIT1(&d->jpeg, JERR_OUT_OF_MEMORY, 0);
        }
        jpeg_save_markers(&d->jpeg, EXIF_MARKER, MARKER_BYTES);
        d->ready = true;
    }
    d->source = (struct jpeg_source_mgr){.next_input_byte = file->bytes + file->at,
                                         .bytes_in_buffer = file->count - file->at,
                                         .init_source = on_start,
                                         .fill_input_buffer = on_fill,
                                         .skip_input_data = on_skip,
                                         .resync_to_restart = jpeg_resync_to_restart,
                                         .term_source = on_start};
    d->jpeg.src = &d->source;
    (void)jpeg_read_header(&d->jpeg, TRUE);
    return true;
}

static int32_t orientation(const Jpeg *d) {
    static const uint8_t start[] = {'E', 'x', 'i', 'f', 0, 0};
    for (jpeg_saved_marker_ptr m = d->jpeg.marker_list; m != NULL; m = m->next) {
        if (m->marker == EXIF_MARKER && m->data_length > sizeof start &&
            memcmp(m->data, start, sizeof start) == 0) {
            return exif_orientation(m->data + sizeof start, m->data_length - sizeof start);
        }
    }
    return 1;
}

/* The coefficients of a progressive file, of two bytes each. */
static int32_t held_rows(Jpeg *d) {
    return jpeg_has_multiple_scans(&d->jpeg) ? 2 * (int32_t)d->jpeg.image_height : 0;
}

static void destroy_jpeg(Jpeg *d) {
    if (setjmp(d->failed) == 0) {
        jpeg_destroy_decompress(&d->jpeg); /* nothing where there is no object */
    }
    image_memory_give(d->memory, d);
}

static void destroy_kept(void *first) {
    for (Jpeg *d = first, *next; d != NULL; d = next) {
        next = d->next;
        destroy_jpeg(d);
    }
}

/* Returns an object of libjpeg: the object of an image before, if memory is kept.  NULL: no memory. */
static Jpeg *find_jpeg(UnetImageMemory *memory) {
    ImageKept *kept = memory != NULL ? image_memory_kept(memory) : NULL;
    Jpeg *d = kept != NULL ? kept->object : NULL;
    if (d != NULL) {
        kept->object = d->next;
        return d;
    }
    d = image_memory_take_zeroed(memory, sizeof *d);
    if (d == NULL) {
        return NULL;
    }
    d->memory = memory;
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->jpeg.client_data = d;
    d->errors.error_exit = on_error;
    d->errors.emit_message = on_message;
    return d;
}

static UnetStatus open_jpeg(UnetImageReader *reader, UnetError *error) {
    Decoder *decoder = reader->decoder = image_memory_take_zeroed(reader->memory, sizeof *decoder);
    Jpeg *d = decoder != NULL ? find_jpeg(reader->memory) : NULL;
    if (d == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    decoder->jpeg = d;
    d->reader = reader;
    d->started = false;
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    if (!read_header(reader)) {
        return image_fail_decoding(reader, error);
    }
    const J_COLOR_SPACE colours = d->jpeg.jpeg_color_space;
    reader->has_cmyk = colours == JCS_CMYK || colours == JCS_YCCK;
    reader->inverted = d->jpeg.saw_Adobe_marker != 0;
    if (colours != JCS_GRAYSCALE && colours != JCS_YCbCr && colours != JCS_RGB && !reader->has_cmyk) {
        return image_fail(reader, error, "a JPEG file of unusual colours: convert it to RGB");
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
                                    .traits = orientation(d) > 1 ? UNET_IMAGE_TURNED : 0};
    reader->turn = orientation(d);
    reader->row_bytes = (size_t)d->jpeg.image_width * (size_t)(reader->has_cmyk ? 4 : channels);
    return UNET_OK;
}

static bool begin_jpeg(UnetImageReader *reader) {
    Jpeg *d = ((Decoder *)reader->decoder)->jpeg;
    const bool grey = d->jpeg.jpeg_color_space == JCS_GRAYSCALE;
    d->jpeg.out_color_space = grey ? JCS_GRAYSCALE : reader->has_cmyk ? JCS_CMYK : JCS_RGB;
    d->jpeg.dct_method = JDCT_ISLOW;
    reader->stored_channels = grey ? 1 : reader->has_cmyk ? 4 : 3;
    return true;
}

/* A file without tables of its own is refused, whatever was read before it. */
static void forget_tables(struct jpeg_decompress_struct *jpeg) {
    for (int i = 0; i < NUM_QUANT_TBLS; i++) {
        jpeg->quant_tbl_ptrs[i] = NULL;
    }
    for (int i = 0; i < NUM_HUFF_TBLS; i++) {
        jpeg->dc_huff_tbl_ptrs[i] = NULL;
        jpeg->ac_huff_tbl_ptrs[i] = NULL;
    }
    jpeg->mem->free_pool((j_common_ptr)jpeg, JPOOL_PERMANENT); /* they alone lie there */
}

/* As many objects are kept as images were open at a time. */
static void close_jpeg(UnetImageReader *reader) {
    Jpeg *d = ((Decoder *)reader->decoder)->jpeg;
    ImageKept *kept = reader->memory != NULL ? image_memory_kept(reader->memory) : NULL;
    if (d == NULL) {
        return;
    }
    if (kept == NULL || !d->ready || setjmp(d->failed) != 0) {
        destroy_jpeg(d);
        return;
    }
    jpeg_abort_decompress(&d->jpeg);
    forget_tables(&d->jpeg);
    d->next = kept->object;
    *kept = (ImageKept){d, destroy_kept};
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool decode_row(UnetImageReader *reader) {
    Jpeg *d = ((Decoder *)reader->decoder)->jpeg;
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
static bool is_complete(ImageFile *file) {
    enum { BLOCK = IMAGE_FILE_BYTES - 1 }; /* and the first byte behind it */
    static const uint8_t end[] = {0xff, 0xd9};
    uint8_t bytes[BLOCK + 1];
    if (!image_file_seek(file, 0, SEEK_END)) {
        return false;
    }
    for (off_t at = image_file_place(file), begin; at > 0; at = begin) {
        begin = at > BLOCK ? at - BLOCK : 0;
        size_t count = (size_t)(at - begin) + (begin + BLOCK == at);
        if (!image_file_seek(file, begin, SEEK_SET)) {
            return false;
        }
        count = image_file_read(file, bytes, count);
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
