/* image_jp2.c - JPEG 2000, alone or in its box (.j2k, .jp2), decoded through OpenJPEG, which holds the
 * image whole. */
#include "image_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openjpeg.h>

enum {
    STREAM_BYTES = 1 << 16,
    SIZES_BYTES = 42, /* from the start of the codes to behind the number of channels */
    TILE_BYTES = 14   /* that a tile takes at least */
};

typedef struct {
    opj_codec_t *codec;
    opj_stream_t *stream;
    opj_image_t *image;
} Decoder;

static bool fail(UnetImageReader *reader, const char *why) {
    if (reader->reason[0] == '\0') {
        (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    }
    return false;
}

static bool is_alone(const uint8_t *signature) {
    return memcmp(signature, "\xff\x4f\xff\x51", 4) == 0;
}

static bool is_jp2(const uint8_t *signature) {
    return is_alone(signature) || memcmp(signature, "\0\0\0\x0cjP  ", 8) == 0;
}

/* ---- what OpenJPEG calls ---------------------------------------------------------------------- */

static void on_error(const char *message, void *context) {
    UnetImageReader *reader = context;
    (void)fail(reader, message);
    reader->reason[strcspn(reader->reason, "\n")] = '\0';
}

static void on_message(const char *message, void *context) {
    (void)message;
    (void)context;
}

static OPJ_SIZE_T on_read(void *bytes, OPJ_SIZE_T count, void *context) {
    UnetImageReader *reader = context;
    const size_t got = image_file_read(&reader->file, bytes, count);
    return got > 0 ? got : (OPJ_SIZE_T)-1;
}

static OPJ_OFF_T on_skip(OPJ_OFF_T count, void *context) {
    UnetImageReader *reader = context;
    return image_file_seek(&reader->file, (off_t)count, SEEK_CUR) ? count : -1;
}

static OPJ_BOOL on_seek(OPJ_OFF_T place, void *context) {
    UnetImageReader *reader = context;
    return place >= 0 && image_file_seek(&reader->file, (off_t)place, SEEK_SET) ? OPJ_TRUE : OPJ_FALSE;
}

/* ---- before OpenJPEG takes memory -------------------------------------------------------------- */

static uint64_t big(const uint8_t *at, int count) {
    uint64_t value = 0;
    while (count-- > 0) {
        value = value << 8 | *at++;
    }
    return value;
}

static bool read_at(UnetImageReader *reader, uint64_t place, uint8_t *bytes, size_t count) {
    return place <= INT64_MAX && image_file_seek(&reader->file, (off_t)place, SEEK_SET) &&
           image_file_read(&reader->file, bytes, count) == count;
}

/* Finds the place where the codes begin: at once, or in a box. */
static bool find_codes(UnetImageReader *reader, uint64_t *place) {
    uint8_t box[16];
    *place = 0;
    for (int i = 0; i < 1000 && read_at(reader, *place, box, sizeof box); i++) {
        const uint64_t length = big(box, 4) == 1 ? big(box + 8, 8) : big(box, 4);
        if (is_alone(box)) {
            return true;
        }
        if (memcmp(box + 4, "jp2c", 4) == 0) {
            *place += big(box, 4) == 1 ? 16 : 8;
            return true;
        }
        if (length < 8 || length > INT64_MAX - *place) {
            return false;
        }
        *place += length;
    }
    return false;
}

static uint64_t tiles_along(const uint8_t *sizes, int axis) {
    const uint64_t size = big(sizes + 8 + 4 * axis, 4), tile = big(sizes + 24 + 4 * axis, 4),
                   begin = big(sizes + 32 + 4 * axis, 4);
    return tile == 0 || begin > size ? UINT32_MAX : (size - begin + tile - 1) / tile;
}

/* OpenJPEG takes memory for each channel of each tile that the header promises: all of these must have room
 * in the file, where a channel of a tile takes a byte at least. */
static bool check_tiles(UnetImageReader *reader, uint64_t length) {
    uint64_t place;
    uint8_t sizes[SIZES_BYTES];
    if (!find_codes(reader, &place) || !read_at(reader, place, sizes, sizeof sizes)) {
        reader->cut_short = true;
        return fail(reader, "its codes are missing");
    }
    const uint64_t across = tiles_along(sizes, 0), down = tiles_along(sizes, 1),
                   channels = big(sizes + 40, 2);
    if (!is_alone(sizes) || across > UINT16_MAX || down > UINT16_MAX || across * down > UINT16_MAX ||
        channels > UNET_IMAGE_MOST_CHANNELS) {
        return fail(reader, "its sizes make no sense");
    }
    if (across * down * (TILE_BYTES + channels) > length) {
        reader->cut_short = true;
        return fail(reader, "its tiles have no room in it");
    }
    return true;
}

static bool open_stream(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    opj_dparameters_t parameters;
    uint8_t signature[SIGNATURE_BYTES];
    if (!image_file_seek(&reader->file, 0, SEEK_END)) {
        return fail(reader, "its length is not known");
    }
    const off_t length = image_file_place(&reader->file);
    if (!check_tiles(reader, (uint64_t)length)) {
        return false;
    }
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    (void)image_file_read(&reader->file, signature, sizeof signature);
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    d->codec = opj_create_decompress(is_alone(signature) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    d->stream = opj_stream_create(STREAM_BYTES, OPJ_TRUE);
    if (d->codec == NULL || d->stream == NULL) {
        return fail(reader, "out of memory");
    }
    (void)opj_set_error_handler(d->codec, on_error, reader);
    (void)opj_set_warning_handler(d->codec, on_message, NULL);
    (void)opj_set_info_handler(d->codec, on_message, NULL);
    opj_stream_set_read_function(d->stream, on_read);
    opj_stream_set_skip_function(d->stream, on_skip);
    opj_stream_set_seek_function(d->stream, on_seek);
    opj_stream_set_user_data(d->stream, reader, NULL);
    opj_stream_set_user_data_length(d->stream, (OPJ_UINT64)length);
    opj_set_default_decoder_parameters(&parameters);
    return opj_setup_decoder(d->codec, &parameters) == OPJ_TRUE || fail(reader, "it cannot be opened");
}

/* ---- the header ------------------------------------------------------------------------------- */

/* Why it is not read, or NULL: the channels have other sizes or numbers. */
static const char *odd_kind(const opj_image_t *image) {
    const opj_image_comp_t *first = image->comps;
    if (image->numcomps < 1 || image->numcomps > UNET_IMAGE_MOST_CHANNELS || first->w < 1 || first->h < 1 ||
        first->w > INT32_MAX || first->h > INT32_MAX) {
        return "its size is no size";
    }
    for (uint32_t c = 0; c < image->numcomps; c++) {
        const opj_image_comp_t *other = &image->comps[c];
        if (other->w != first->w || other->h != first->h || other->prec != first->prec ||
            other->sgnd != first->sgnd) {
            return "its channels have several sizes or kinds of numbers: convert it to PNG or TIFF";
        }
    }
    return first->prec < 1 || first->prec > 31 ? "an unusual number of bits"
           : image->color_space == OPJ_CLRSPC_SYCC || image->color_space == OPJ_CLRSPC_EYCC ||
                   image->color_space == OPJ_CLRSPC_CMYK
               ? "colours that are not red, green and blue: convert it to PNG"
               : NULL;
}

static bool has_alpha(const opj_image_t *image) {
    return image->numcomps == 2 || image->numcomps == 4;
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (opj_read_header(d->stream, d->codec, &d->image) != OPJ_TRUE || d->image == NULL) {
        return fail(reader, "its header cannot be read");
    }
    const char *odd = odd_kind(d->image);
    if (odd != NULL) {
        return fail(reader, odd);
    }
    const opj_image_comp_t *first = d->image->comps;
    const int32_t alpha = has_alpha(d->image) ? 1 : 0;
    reader->shape = (UnetImageInfo){.width = (int32_t)first->w,
                                    .height = (int32_t)first->h,
                                    .channels = (int32_t)d->image->numcomps - alpha,
                                    .bits = first->sgnd != 0 || first->prec > 16 ? 32
                                            : first->prec > 8                    ? 16
                                                                                 : 8,
                                    .interlaced = true,
                                    .traits = alpha != 0 ? UNET_IMAGE_ALPHA : 0};
    /* what OpenJPEG holds counts: four bytes of each number */
    reader->row_bytes = 4 * (size_t)first->w * (size_t)d->image->numcomps;
    return true;
}

static UnetStatus open_jp2(UnetImageReader *reader, UnetError *error) {
    reader->decoder = image_memory_take_zeroed(reader->memory, sizeof(Decoder));
    if (reader->decoder == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    return open_stream(reader) && read_header(reader) ? UNET_OK : image_fail_decoding(reader, error);
}

/* ---- rows ------------------------------------------------------------------------------------- */

static bool begin_jp2(UnetImageReader *reader) {
    reader->stored_channels = reader->shape.channels + (reader->keeps_alpha ? 1 : 0);
    reader->row_bytes =
        (size_t)reader->shape.width * (size_t)reader->stored_channels * (size_t)(reader->shape.bits / 8);
    return true;
}

/* NUMBER of PREC bits as rows hold it; classes as they are. */
static uint8_t *put(const UnetImageReader *reader, uint32_t prec, int32_t number, uint8_t *to) {
    if (reader->shape.bits == 32) {
        const float kept = (float)number;
        memcpy(to, &kept, sizeof kept);
        return to + sizeof kept;
    }
    const uint32_t most = (1u << prec) - 1, all = reader->shape.bits == 16 ? UINT16_MAX : UINT8_MAX;
    const uint32_t whole = number < 0 ? 0 : (uint32_t)number > most ? most : (uint32_t)number;
    const uint32_t scaled = reader->classes ? whole : (uint32_t)(((uint64_t)whole * all + most / 2) / most);
    if (reader->shape.bits == 16) {
        *to++ = (uint8_t)(scaled >> 8);
    }
    *to++ = (uint8_t)scaled;
    return to;
}

static bool decode_all(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    if (opj_decode(d->codec, d->stream, d->image) != OPJ_TRUE ||
        opj_end_decompress(d->codec, d->stream) != OPJ_TRUE) {
        return fail(reader, "its codes cannot be read");
    }
    if (odd_kind(d->image) != NULL || (int32_t)d->image->comps[0].w != reader->shape.width ||
        (int32_t)d->image->comps[0].h != reader->shape.height ||
        (int32_t)d->image->numcomps < reader->stored_channels) {
        return fail(reader, "it is not what its header says");
    }
    uint8_t *to = reader->rows;
    const size_t points = (size_t)reader->shape.width * (size_t)reader->shape.height;
    for (size_t i = 0; i < points; i++) {
        for (int32_t c = 0; c < reader->stored_channels; c++) {
            const opj_image_comp_t *channel = &d->image->comps[c];
            if (channel->data == NULL) {
                return fail(reader, "a channel is missing");
            }
            to = put(reader, channel->prec, channel->data[i], to);
        }
    }
    return true;
}

static bool decode_row(UnetImageReader *reader) {
    return fail(reader, "its rows come at once");
}

/* OpenJPEG refuses a file that is cut short when it decodes the file. */
static bool is_complete(ImageFile *file) {
    (void)file;
    return true;
}

static void close_jp2(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    opj_image_destroy(d->image); /* nothing where there is none, as the two below */
    opj_stream_destroy(d->stream);
    opj_destroy_codec(d->codec);
}

/* A picture of one colour is a few bytes for each block of codes, of 64 x 64 points. */
const ImageFormat image_jp2 = {.name = "JPEG 2000",
                               .most_expansion = 1 << 14,
                               .is = is_jp2,
                               .open = open_jp2,
                               .begin = begin_jp2,
                               .decode_row = decode_row,
                               .decode_all = decode_all,
                               .is_complete = is_complete,
                               .close = close_jp2};
