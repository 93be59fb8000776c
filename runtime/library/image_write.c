/* image_write.c - images, written row by row by the encoder of the format that their name asks for, into an
 * atomic file. */
#include "image_format.h"
#include "size_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- which format ----------------------------------------------------------------------------- */

/* A name that says nothing asks for the format of pictures, PNG. */
static const UnetImageKind *kind_to_write(const char *path) {
    const UnetImageKind *kind = unet_image_kind_of_name(path);
    return kind != NULL ? kind : unet_image_kind_of_name(image_formats.suffix);
}

static const ImageEncoder *encoder_of(const UnetImageKind *kind) {
    for (const ImageWritten *w = image_formats.written; w->name != NULL; w++) {
        if (strcmp(w->name, kind->name) == 0) {
            return w->encoder;
        }
    }
    return NULL;
}

bool unet_image_is_signal(const char *path) {
    const ImageEncoder *encoder = encoder_of(kind_to_write(path));
    return encoder != NULL && encoder->signal;
}

int32_t unet_image_bits(const char *path, int32_t bits) {
    const int32_t most = kind_to_write(path)->written_bits;
    return most > 0 && most < bits ? most : bits;
}

int32_t unet_image_bits_unasked(const char *path, int32_t bits) {
    const bool holds_floats = encoder_of(kind_to_write(path)) == &image_npy_encoder;
    return unet_image_is_signal(path) ? 16 : holds_floats ? 32 : unet_image_bits(path, bits);
}

/* Formats with room for floats have it for any number of channels. */
static bool holds_channels(const UnetImageKind *kind, int32_t channels) {
    return channels == 1 || channels == 3 || kind->written_bits == 32;
}

/* An array has room for a number of each word of a language; nobody reads such an array as an image. */
static int32_t most_channels(const UnetImageKind *kind) {
    enum { OF_ARRAYS = 1 << 20 };
    return encoder_of(kind) == &image_npy_encoder ? OF_ARRAYS : UNET_IMAGE_MOST_CHANNELS;
}

/* Refuses a format that the program or the build leaves out, and says what brings it. */
static UnetStatus fail_written(const char *path, const UnetImageKind *kind, UnetError *error) {
    if (image_formats.left_out_by != NULL) {
        return unet_fail(error, UNET_USAGE,
                         "%s: a %s file, and this program was compiled with %s: name it %s, or compile "
                         "without %s",
                         path, kind->name, image_formats.left_out_by, image_formats.for_pictures,
                         image_formats.left_out_by);
    }
    return unet_fail(error, UNET_USAGE,
                     "%s: a %s file: install %s and build unetc anew, which was built without, or name it "
                     "%s",
                     path, kind->name, kind->package, image_formats.for_classes);
}

/* Numbers of classes must come back as they are. */
static UnetStatus check_classes(const char *path, const UnetImageKind *kind, UnetError *error) {
    const bool signal = unet_image_is_signal(path);
    if (!signal && kind->written_bits != 8) {
        return UNET_OK;
    }
    return unet_fail(error, UNET_USAGE, "%s: a %s file %s: name it %s", path, kind->name,
                     signal ? "holds a signal, and this has classes"
                            : "does not keep the numbers of classes",
                     image_formats.for_classes);
}

UnetStatus unet_image_check_name(const char *path, int32_t channels, bool classes, UnetError *error) {
    const UnetImageKind *kind = kind_to_write(path);
    if (kind->written_bits == 0) {
        return unet_fail(error, UNET_USAGE, "%s: no %s files are written: name it %s", path, kind->name,
                         image_formats.for_pictures);
    }
    if (!holds_channels(kind, channels)) {
        return unet_fail(error, UNET_USAGE,
                         "%s: a %s file has 1 or 3 channels, and this has %d: name it %s", path, kind->name,
                         (int)channels, image_formats.for_any);
    }
    if (encoder_of(kind) == NULL) {
        return fail_written(path, kind, error);
    }
    if (channels > most_channels(kind)) {
        return unet_fail(error, UNET_USAGE,
                         "%s: a %s file has at most %d channels, and this has %d: name it .npy", path,
                         kind->name, (int)most_channels(kind), (int)channels);
    }
    return classes ? check_classes(path, kind, error) : UNET_OK;
}

const char *unet_image_suffix(int32_t channels, int32_t bits) {
    return holds_channels(kind_to_write(""), channels) && bits <= 16 ? image_formats.suffix
                                                                     : image_formats.any_suffix;
}

const char *unet_image_any_suffixes(void) {
    return image_formats.for_any;
}

/* ---- the file --------------------------------------------------------------------------------- */

static UnetStatus report(const UnetImageWriter *writer, UnetError *error) {
    return unet_fail(error, UNET_IO, "%s", writer->error.text);
}

static bool is_writable(const char *path, const UnetImageInfo *info) {
    return info->width > 0 && info->height > 0 && info->channels > 0 &&
           info->channels <= most_channels(kind_to_write(path)) &&
           (info->bits == 8 || info->bits == 16 || info->bits == 32 ||
            (info->bits == 24 && unet_image_is_signal(path))) &&
           unet_image_bits(path, info->bits) == info->bits &&
           !(info->palette && (info->channels != 1 || info->bits != 8));
}

static void destroy(UnetImageWriter *writer) {
    writer->encoder->close(writer);
    free(writer);
}

UnetStatus unet_image_create(UnetImageWriter **writer, const char *path, const UnetImageInfo *info,
                             UnetError *error) {
    *writer = NULL;
    size_t row, bytes;
    UnetStatus status = unet_image_check_name(path, info->channels, info->palette, error);
    const ImageEncoder *encoder = encoder_of(kind_to_write(path));
    if (status == UNET_OK && encoder->check != NULL) {
        status = encoder->check(path, info, error);
    }
    if (status != UNET_OK) {
        return status;
    }
    if (!is_writable(path, info) ||
        !checked_mul((size_t)info->width, (size_t)info->channels * (size_t)(info->bits / 8), &row) ||
        !checked_add(row, sizeof **writer, &bytes)) {
        return unet_fail(error, UNET_BUG, "%s: an image of this kind cannot be written", path);
    }
    UnetImageWriter *created = calloc(1, bytes);
    if (created == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    created->encoder = encoder;
    created->shape = *info;
    created->row_bytes = row;
    status = unet_atomic_open(&created->file, path, error);
    if (status != UNET_OK) {
        free(created);
        return status;
    }
    if (!created->encoder->begin(created)) {
        status = created->error.text[0] != '\0'
                     ? report(created, error)
                     : unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
        unet_image_discard(created);
        return status;
    }
    *writer = created;
    return UNET_OK;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* VALUE clamped to 0..1 and scaled to 0..LARGEST, to the nearest whole number. */
static uint32_t quantise(float value, uint32_t largest) {
    if (!(value > 0.0f)) {
        return 0;
    }
    return value >= 1.0f ? largest : (uint32_t)((double)value * (double)largest + 0.5);
}

/* VALUE clamped to -1..1 and scaled so that 1 would be 2 to the power of BITS - 1: the nearest number that
 * BITS hold, in two's complement; in 8 bits, from 0 on, with silence at 128. */
static uint32_t quantise_signal(float value, int32_t bits) {
    const double one = (double)(1 << (bits - 1));
    const double number = isnan(value) ? 0 : floor((double)value * one + 0.5);
    const int32_t held = (int32_t)(number < -one ? -one : number > one - 1 ? one - 1 : number);
    return (uint32_t)(bits == 8 ? held + 128 : held);
}

/* Bytes of a number, the highest first; returns where the next one goes. */
static uint8_t *put(uint8_t *out, uint32_t number, int32_t bits) {
    for (int32_t shift = bits - 8; shift >= 0; shift -= 8) {
        *out++ = (uint8_t)(number >> shift);
    }
    return out;
}

static uint32_t stored(const UnetImageWriter *writer, float value) {
    const UnetImageInfo *shape = &writer->shape;
    uint32_t number;
    if (shape->palette) {
        return (uint8_t)value;
    }
    if (shape->bits < 32 && writer->encoder->signal) {
        return quantise_signal(value, shape->bits);
    }
    if (shape->bits < 32) {
        return quantise(value, shape->bits == 16 ? 65535 : 255);
    }
    memcpy(&number, &value, sizeof number);
    return number;
}

UnetStatus unet_image_write_row(UnetImageWriter *writer, const float *row, UnetError *error) {
    const UnetImageInfo *shape = &writer->shape;
    uint8_t *out = writer->row;
    if (writer->rows_written++ >= shape->height) {
        return unet_fail(error, UNET_BUG, "%s: written beyond its last row", writer->file.path);
    }
    for (int32_t x = 0; x < shape->width; x++) {
        for (int32_t c = 0; c < shape->channels; c++) {
            out = put(out, stored(writer, row[(ptrdiff_t)c * shape->width + x]), shape->bits);
        }
    }
    return writer->encoder->write_row(writer) ? UNET_OK : report(writer, error);
}

void image_turn_bytes(UnetImageWriter *writer) {
    const size_t bytes = (size_t)writer->shape.bits / 8;
    for (size_t i = 0; i < writer->row_bytes; i += bytes) {
        for (size_t low = 0, high = bytes - 1; low < high; low++, high--) {
            const uint8_t byte = writer->row[i + low];
            writer->row[i + low] = writer->row[i + high];
            writer->row[i + high] = byte;
        }
    }
}

UnetStatus unet_image_finish(UnetImageWriter *writer, UnetError *error) {
    UnetStatus status = UNET_OK;
    if (writer->rows_written != writer->shape.height) {
        status = unet_fail(error, UNET_BUG, "%s: finished after row %d of %d", writer->file.path,
                           writer->rows_written, writer->shape.height);
    } else if (!writer->encoder->end(writer)) {
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
