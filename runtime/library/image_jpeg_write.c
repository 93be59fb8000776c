/* image_jpeg_write.c - JPEG images, encoded through libjpeg: of high quality, with colours at every point;
 * see image_jpeg.c for how its longjmp is met. */
#include "image_format.h"

#include <setjmp.h>
#include <stdlib.h>

#include <jpeglib.h>

enum { QUALITY = 95, BLOCK_BYTES = 1 << 14 };

typedef struct {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr to;
    jmp_buf failed;
    bool created;
    JOCTET block[BLOCK_BYTES];
} Encoder;

/* ---- what libjpeg calls ----------------------------------------------------------------------- */

_Noreturn static void on_error(j_common_ptr jpeg) {
    UnetImageWriter *writer = jpeg->client_data;
    Encoder *e = writer->state;
    char reason[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, reason);
    if (writer->error.text[0] == '\0') {
        (void)unet_fail(&writer->error, UNET_IO, "%s: cannot write: %.150s", writer->file.path, reason);
    }
    longjmp(e->failed, 1);
}

static void on_message(j_common_ptr jpeg, int level) {
    (void)jpeg;
    (void)level;
}

static void write_block(j_compress_ptr jpeg, size_t bytes) {
    UnetImageWriter *writer = jpeg->client_data;
    Encoder *e = writer->state;
    if (unet_atomic_write(&writer->file, e->block, bytes, &writer->error) != UNET_OK) {
        longjmp(e->failed, 1);
    }
    e->to.next_output_byte = e->block;
    e->to.free_in_buffer = BLOCK_BYTES;
}

static void on_start(j_compress_ptr jpeg) {
    Encoder *e = ((UnetImageWriter *)jpeg->client_data)->state;
    e->to.next_output_byte = e->block;
    e->to.free_in_buffer = BLOCK_BYTES;
}

static boolean on_full(j_compress_ptr jpeg) {
    write_block(jpeg, BLOCK_BYTES);
    return TRUE;
}

static void on_end(j_compress_ptr jpeg) {
    write_block(jpeg, BLOCK_BYTES - jpeg->dest->free_in_buffer);
}

/* ---- the file --------------------------------------------------------------------------------- */

static bool start(UnetImageWriter *writer) {
    Encoder *e = writer->state;
    if (setjmp(e->failed) != 0) {
        return false;
    }
    jpeg_create_compress(&e->jpeg);
    e->created = true;
    e->jpeg.client_data = writer;
    e->jpeg.dest = &e->to;
    e->jpeg.image_width = (JDIMENSION)writer->shape.width;
    e->jpeg.image_height = (JDIMENSION)writer->shape.height;
    e->jpeg.input_components = writer->shape.channels;
    e->jpeg.in_color_space = writer->shape.channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&e->jpeg);
    jpeg_set_quality(&e->jpeg, QUALITY, TRUE);
    e->jpeg.comp_info[0].h_samp_factor = 1;
    e->jpeg.comp_info[0].v_samp_factor = 1;
    e->jpeg.dct_method = JDCT_ISLOW;
    jpeg_start_compress(&e->jpeg, TRUE);
    return true;
}

static bool begin_jpeg(UnetImageWriter *writer) {
    Encoder *e = writer->state = calloc(1, sizeof *e);
    if (e == NULL) {
        return false;
    }
    e->jpeg.err = jpeg_std_error(&e->errors);
    e->jpeg.client_data = writer;
    e->errors.error_exit = on_error;
    e->errors.emit_message = on_message;
    e->to.init_destination = on_start;
    e->to.empty_output_buffer = on_full;
    e->to.term_destination = on_end;
    return start(writer);
}

static bool write_row(UnetImageWriter *writer) {
    Encoder *e = writer->state;
    if (setjmp(e->failed) != 0) {
        return false;
    }
    JSAMPROW row = writer->row;
    return jpeg_write_scanlines(&e->jpeg, &row, 1) == 1;
}

static bool write_end(UnetImageWriter *writer) {
    Encoder *e = writer->state;
    if (setjmp(e->failed) != 0) {
        return false;
    }
    jpeg_finish_compress(&e->jpeg);
    return true;
}

static void close_jpeg(UnetImageWriter *writer) {
    Encoder *e = writer->state;
    if (e != NULL && e->created && setjmp(e->failed) == 0) {
        jpeg_destroy_compress(&e->jpeg);
    }
    free(e);
}

const ImageEncoder image_jpeg_encoder = {
    .begin = begin_jpeg, .write_row = write_row, .end = write_end, .close = close_jpeg};
