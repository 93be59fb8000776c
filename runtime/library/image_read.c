/* image_read.c - images, read row by row by the decoder of their format. */
#include "image_format.h"
#include "size_math.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_POINTS = 1 << 28 };

/* Decoders tell of memory in words, as they do of all else. */
static UnetStatus status_of(const char *why) {
    return strstr(why, "of memory") != NULL || strstr(why, "nsufficient memory") != NULL ? UNET_TOO_SMALL
                                                                                         : UNET_IO;
}

UnetStatus image_fail(const UnetImageReader *reader, UnetError *error, const char *why) {
    const UnetStatus status = unet_fail(error, status_of(why), "%s: %s", reader->path, why);
    if (error != NULL && why != reader->reason) {
        error->kind = why; /* a text of ours, one for each kind of failure */
    }
    return status;
}

static bool holds_all(const UnetImageReader *reader) {
    return reader->shape.interlaced || reader->turn > 1;
}

UnetStatus image_fail_decoding(UnetImageReader *reader, UnetError *error) {
    const char *what = reader->cut_short ? "cut short" : "damaged";
    const UnetStatus status = status_of(reader->reason);
    const bool whole =
        strncmp(reader->reason, "a TIFF file", 11) == 0; /* a codec that is left out says so */
    int32_t row = reader->next_row;
    reader->next_row = INT32_MAX;
    if (reader->file.failure != 0) { /* of the disk or the network: it says nothing about the image */
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path,
                         strerror(reader->file.failure));
    }
    if (whole) {
        return image_fail(reader, error, reader->reason);
    }
    if (reader->rows == NULL) {
        return unet_fail(error, status, "%s: %s in the header (%s)", reader->path, what, reader->reason);
    }
    if (holds_all(reader)) {
        return unet_fail(error, status, "%s: %s (%s)", reader->path, what, reader->reason);
    }
    return unet_fail(error, status, "%s: %s in row %d of %d (%s)", reader->path, what, row,
                     reader->shape.height, reader->reason);
}

static bool swaps_axes(const UnetImageReader *reader) {
    return reader->turn > 4;
}

/* Describes the picture before it is resized. */
static UnetImageInfo own_info(const UnetImageReader *reader) {
    UnetImageInfo info = reader->shape;
    info.interlaced = holds_all(reader);
    if (swaps_axes(reader)) {
        info.width = reader->shape.height;
        info.height = reader->shape.width;
    }
    info.own[0] = info.height;
    info.own[1] = info.width;
    return info;
}

static bool resizes(const UnetImageReader *reader) {
    return reader->way.fit != UNET_FIT_NONE;
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* Refuses a format that the program or the build leaves out, and says what brings it. */
static UnetStatus fail_format(const UnetImageReader *reader, const uint8_t *signature, UnetError *error) {
    const UnetImageKind *kind = unet_image_kind_of_bytes(signature);
    if (kind != NULL && image_formats.left_out_by != NULL) {
        return unet_fail(error, UNET_IO,
                         "%s: a %s file, and this program was compiled with %s, so that it reads %s alone: "
                         "convert it to %s, or compile without %s",
                         reader->path, kind->name, image_formats.left_out_by, image_formats.read_names,
                         image_formats.convert_to, image_formats.left_out_by);
    }
    if (kind != NULL && kind->package != NULL) {
        return unet_fail(error, UNET_IO,
                         "%s: a %s file: install %s and build unetc anew, which was built without",
                         reader->path, kind->name, kind->package);
    }
    return unet_fail(error, UNET_IO,
                     "%s: none of the formats that are read (%s): convert it, to %s for example",
                     reader->path, image_formats.read_names, image_formats.convert_to);
}

static UnetStatus open_file(UnetImageReader *reader, UnetError *error) {
    if (!image_file_open(&reader->file, reader->path)) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, strerror(errno));
    }
    uint8_t signature[SIGNATURE_BYTES] = {0};
    if (image_file_read(&reader->file, signature, sizeof signature) < LEAST_SIGNATURE) {
        if (reader->file.failure != 0) {
            return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path,
                             strerror(reader->file.failure));
        }
        return image_fail(reader, error, "too short for an image");
    }
    for (const ImageFormat *const *f = image_formats.read; *f != NULL && reader->format == NULL; f++) {
        reader->format = (*f)->is(signature) ? *f : NULL;
    }
    (void)image_file_seek(&reader->file, 0, SEEK_SET); /* in the bytes that were read */
    return reader->format != NULL ? UNET_OK : fail_format(reader, signature, error);
}

static UnetStatus check_size(const UnetImageReader *reader, UnetError *error) {
    const UnetImageInfo *shape = &reader->shape;
    int64_t points = (int64_t)shape->width * shape->height;
    if (points > MAX_POINTS) {
        return unet_fail(error, UNET_IO, "%s: %d x %d points are too many (at most 2^28)", reader->path,
                         shape->height, shape->width);
    }
    struct stat status;
    if (fstat(reader->file.fd, &status) != 0) {
        return unet_fail(error, UNET_IO, "%s: cannot read: %s", reader->path, strerror(errno));
    }
    uint64_t bytes = (reader->row_bytes + 1) * (uint64_t)shape->height;
    if (S_ISREG(status.st_mode) &&
        bytes / (uint64_t)reader->format->most_expansion > (uint64_t)status.st_size) {
        return unet_fail(error, UNET_IO, "%s: cut short: %lld bytes cannot hold %d x %d points",
                         reader->path, (long long)status.st_size, shape->height, shape->width);
    }
    return UNET_OK;
}

static UnetStatus fail_channels(const UnetImageReader *reader, int32_t channels, UnetError *error) {
    const UnetImageInfo *shape = &reader->shape;
    if (channels == 1 && shape->channels == 3) {
        return image_fail(
            reader, error,
            "is in colour, and the model reads one channel; `channels = 1` in `images(...)` makes "
            "grey of it");
    }
    return unet_fail(error, UNET_IO, "%s: has %d channel%s%s, and the model reads %d", reader->path,
                     shape->channels, shape->channels == 1 ? "" : "s",
                     (shape->traits & UNET_IMAGE_ALPHA) != 0 ? " and alpha" : "", channels);
}

/* Numbers that stand for classes: of one channel, of equal ones, or of colours. */
static UnetStatus check_classes(UnetImageReader *reader, UnetError *error) {
    UnetImageInfo *shape = &reader->shape;
    if (reader->packed && shape->bits != 8) {
        return image_fail(reader, error, "has more than 8 bits, and `colours` has numbers from 0 to 255");
    }
    if (shape->channels != 1 && shape->channels != 3) {
        return fail_channels(reader, 1, error);
    }
    return UNET_OK;
}

/* The channels of a signal are no colours: as many are read as there are, and its numbers as they are. */
static UnetStatus check_signal(const UnetImageReader *reader, int32_t channels, UnetError *error) {
    const int32_t own = reader->shape.channels;
    if (channels < 0) {
        return image_fail(reader, error,
                          "a signal, whose numbers from -1 to 1 are no classes: write classes to an image, "
                          "or to an array of NumPy");
    }
    if (reader->way.alpha) {
        return image_fail(reader, error, "has no alpha, which `alpha = true` reads");
    }
    if (reader->way.fit != UNET_FIT_NONE) {
        return image_fail(reader, error,
                          "a signal, which `resize` does not take: resample it with: sox in.wav -r 16000 "
                          "out.wav");
    }
    if (channels > 0 && channels != own) {
        return unet_fail(
            error, UNET_IO,
            "%s: a signal of %d channel%s, and the model reads %d: convert it with: sox in.wav "
            "-c %d out.wav",
            reader->path, own, own == 1 ? "" : "s", channels, channels);
    }
    return UNET_OK;
}

/* Finds how the channels of the file become the channels that are asked for. */
static UnetStatus check_channels(UnetImageReader *reader, int32_t channels, UnetError *error) {
    UnetImageInfo *shape = &reader->shape;
    const bool has_alpha = (shape->traits & UNET_IMAGE_ALPHA) != 0;
    reader->classes = channels == UNET_IMAGE_CLASSES;
    reader->packed = channels == UNET_IMAGE_COLOURS;
    reader->reduction = REDUCE_NOT;
    if (reader->format->signal) {
        return check_signal(reader, channels, error);
    }
    shape->traits |= reader->has_cmyk ? UNET_IMAGE_CMYK : 0;
    if (reader->way.alpha) {
        reader->keeps_alpha = has_alpha;
        reader->reduction = REDUCE_TO_ALPHA;
        shape->traits &= ~(uint32_t)UNET_IMAGE_ALPHA;
        return has_alpha ? UNET_OK : image_fail(reader, error, "has no alpha, which `alpha = true` reads");
    }
    if (reader->classes || reader->packed) {
        return check_classes(reader, error);
    }
    if (channels == shape->channels + 1 && has_alpha) {
        reader->keeps_alpha = true;
        shape->traits &= ~(uint32_t)UNET_IMAGE_ALPHA;
    } else if (channels == 1 && shape->channels == 3 && reader->way.to_grey) {
        reader->reduction = REDUCE_TO_GREY;
    } else if (channels == 3 && shape->channels == 1) {
        shape->traits |= UNET_IMAGE_SPREAD;
    } else if (channels != 0 && channels != shape->channels) {
        return fail_channels(reader, channels, error);
    }
    if (shape->bits > 8 && !reader->scaled) {
        shape->traits |= shape->bits == 16 ? UNET_IMAGE_DEEP : UNET_IMAGE_FLOATS;
    }
    return UNET_OK;
}

static int32_t reduced_channels(const UnetImageReader *reader) {
    return reader->reduction != REDUCE_NOT ? 1 : reader->has_cmyk ? 3 : reader->stored_channels;
}

/* The size that the way asks for. */
static UnetStatus settle_size(UnetImageReader *reader, UnetError *error) {
    const UnetImageInfo info = own_info(reader);
    unet_resized(&reader->way, info.own, reader->resized);
    if ((int64_t)reader->resized[0] * reader->resized[1] > MAX_POINTS) {
        return unet_fail(error, UNET_IO,
                         "%s: has %d x %d points, and `resize` would make %d x %d of them (at most 2^28)",
                         reader->path, info.height, info.width, reader->resized[0], reader->resized[1]);
    }
    return UNET_OK;
}

/* The decoder is ready: what its rows become. */
static UnetStatus settle_shape(UnetImageReader *reader, int32_t channels, UnetError *error) {
    const size_t sample = (size_t)reader->shape.bits / 8;
    const size_t expected = (size_t)reader->shape.width * (size_t)reader->stored_channels * sample;
    reader->shown_channels = reduced_channels(reader);
    if (reader->stored_channels < 1 || reader->stored_channels > UNET_IMAGE_MOST_CHANNELS ||
        reader->row_bytes != expected) {
        return image_fail(reader, error, "an unknown kind of image");
    }
    if (channels > 0) {
        reader->shape.channels = channels;
    } else if (channels < 0 || reader->way.alpha) {
        reader->shape.channels = 1;
    }
    return settle_size(reader, error);
}

static UnetStatus open_image(UnetImageReader *reader, int32_t channels, UnetError *error) {
    UnetStatus status = open_file(reader, error);
    if (status != UNET_OK) {
        return status;
    }
    reader->turn = 1;
    reader->asked = channels;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): open_file() found it */
    status = reader->format->open(reader, error);
    if (status != UNET_OK) {
        return status;
    }
    status = check_size(reader, error);
    if (status == UNET_OK) {
        status = check_channels(reader, channels, error);
    }
    if (reader->way.upright) {
        reader->shape.traits &= ~(uint32_t)UNET_IMAGE_TURNED;
    } else {
        reader->turn = 1;
    }
    if (reader->way.names_page) {
        reader->shape.traits &= ~(uint32_t)UNET_IMAGE_PAGES;
    }
    if (status == UNET_OK && !reader->format->begin(reader)) {
        status = image_fail_decoding(reader, error);
    }
    return status == UNET_OK ? settle_shape(reader, channels, error) : status;
}

UnetStatus unet_image_open(UnetImageReader **reader, const char *path, int32_t channels, UnetError *error) {
    return unet_image_open_in(NULL, reader, path, channels, error);
}

UnetStatus unet_image_open_in(UnetImageMemory *memory, UnetImageReader **reader, const char *path,
                              int32_t channels, UnetError *error) {
    return unet_image_open_as(memory, NULL, reader, path, channels, error);
}

UnetStatus unet_image_open_as(UnetImageMemory *memory, const UnetImageWay *way, UnetImageReader **reader,
                              const char *path, int32_t channels, UnetError *error) {
    size_t length = strlen(path) + 1;
    *reader = NULL;
    UnetImageReader *opened = image_memory_take_zeroed(memory, sizeof *opened + length);
    if (opened == NULL) {
        return unet_fail(error, UNET_TOO_SMALL, "%s: out of memory", path);
    }
    opened->memory = memory;
    opened->way = way != NULL ? *way : (UnetImageWay){.missing = UNET_MISSING_REFUSED};
    opened->file.fd = -1;
    memcpy(opened->path, path, length);
    UnetStatus status = open_image(opened, opened->way.words ? UNET_IMAGE_CLASSES : channels, error);
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
    if (reader->decoder != NULL) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a decoder is of a format */
        reader->format->close(reader);
        image_memory_give(reader->memory, reader->decoder);
    }
    image_file_close(&reader->file);
    image_memory_give(reader->memory, reader->rows);
    image_memory_give(reader->memory, reader->resize_row);
    image_memory_give(reader->memory, reader);
}

UnetImageInfo unet_image_info(const UnetImageReader *reader) {
    UnetImageInfo info = own_info(reader);
    if (resizes(reader)) {
        info.height = reader->resized[0];
        info.width = reader->resized[1];
    }
    return info;
}

/* ---- rows ------------------------------------------------------------------------------------- */

/* Row Y of the turned image, of WIDTH points of POINT bytes, out of FROM, which is as the file has it. */
static void turn_row(const UnetImageReader *reader, const uint8_t *from, int32_t y, int32_t width,
                     size_t point, uint8_t *to) {
    const int32_t *size = (const int32_t[]){reader->shape.height, reader->shape.width};
    const int turn = reader->turn;
    for (int32_t x = 0; x < width; x++, to += point) {
        int32_t row = turn > 4 ? x : y, column = turn > 4 ? y : x;
        row = turn == 3 || turn == 4 || turn == 6 || turn == 7 ? size[0] - 1 - row : row;
        column = turn == 2 || turn == 3 || turn == 7 || turn == 8 ? size[1] - 1 - column : column;
        memcpy(to, from + (size_t)row * reader->row_bytes + (size_t)column * point, point);
    }
}

/* All rows, turned. */
static bool turn_all(UnetImageReader *reader, size_t bytes) {
    const UnetImageInfo shown = own_info(reader);
    const size_t point = reader->row_bytes / (size_t)reader->shape.width;
    uint8_t *turned = image_memory_take(reader->memory, bytes);
    if (turned == NULL) {
        (void)snprintf(reader->reason, sizeof reader->reason, "out of memory");
        return false;
    }
    for (int32_t y = 0; y < shown.height; y++) {
        turn_row(reader, reader->rows, y, shown.width, point,
                 turned + (size_t)y * (size_t)shown.width * point);
    }
    image_memory_give(reader->memory, reader->rows);
    reader->rows = turned;
    reader->row_bytes = (size_t)shown.width * point;
    return true;
}

/* Decodes row by row, all rows for an image that is to be turned. */
static bool decode_each(UnetImageReader *reader) {
    uint8_t *all = reader->rows;
    bool good = true;
    for (int32_t y = 0; y < reader->shape.height && good; y++) {
        reader->next_row = y;
        good = reader->format->decode_row(reader);
        reader->rows += reader->row_bytes;
    }
    reader->rows = all;
    reader->next_row = good ? 0 : reader->next_row;
    return good;
}

/* Memory for rows is taken when the first one is asked for, so that probing takes none. */
static UnetStatus prepare_rows(UnetImageReader *reader, UnetError *error) {
    size_t bytes;
    size_t rows = holds_all(reader) ? (size_t)reader->shape.height : 1;
    if (!checked_mul(reader->row_bytes, rows, &bytes)) {
        return image_fail(reader, error, "too large");
    }
    reader->rows = image_memory_take_zeroed(reader->memory, bytes);
    if (reader->rows == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    bool good = true;
    if (reader->shape.interlaced) {
        good = reader->format->decode_all(reader);
    } else if (reader->turn > 1) {
        good = decode_each(reader);
    }
    if (good && reader->turn > 1) {
        good = turn_all(reader, bytes);
    }
    return good ? UNET_OK : image_fail_decoding(reader, error);
}

static uint8_t *own_row(const UnetImageReader *reader) {
    size_t row = holds_all(reader) ? (size_t)reader->next_row - 1 : 0;
    return reader->rows + row * reader->row_bytes;
}

/* Many tools write grey masks with three channels, which are then equal; any of them is the class. */
static UnetStatus check_grey(const UnetImageReader *reader, UnetError *error) {
    const UnetRowFormat format = unet_image_format(reader);
    const ptrdiff_t sample = unet_number_bytes(&format);
    const uint8_t *at = own_row(reader);
    for (int32_t x = 0; x < own_info(reader).width; x++, at += 3 * sample) {
        const double red = unet_stored_number(format.bits, at);
        const double green = unet_stored_number(format.bits, at + sample);
        const double blue = unet_stored_number(format.bits, at + 2 * sample);
        if (green != red || blue != red) {
            return unet_fail(error, UNET_IO,
                             "%s: is in colour (row %d, column %d: [%g, %g, %g]), and a mask has a number "
                             "for each class; "
                             "`colours = [[0, 0, 0], [255, 0, 0], ...]` in `labels(...)` says which colour "
                             "each class has",
                             reader->path, reader->next_row - 1, x, red, green, blue);
        }
    }
    return UNET_OK;
}

/* The next row of the picture, before it is resized. */
static UnetStatus decode_own_row(UnetImageReader *reader, UnetError *error) {
    if (reader->next_row >= own_info(reader).height) {
        return unet_fail(error, UNET_BUG, "%s: read beyond its last row", reader->path);
    }
    if (reader->rows == NULL) {
        UnetStatus status = prepare_rows(reader, error);
        if (status != UNET_OK) {
            return status;
        }
    }
    if (!holds_all(reader) && !reader->format->decode_row(reader)) {
        return image_fail_decoding(reader, error);
    }
    reader->next_row++;
    image_reduce_row(reader, own_row(reader), own_info(reader).width);
    return reader->classes && reader->shown_channels == 3 ? check_grey(reader, error) : UNET_OK;
}

/* Classes have no numbers between them. */
static UnetStatus begin_resizing(UnetImageReader *reader, UnetError *error) {
    const UnetImageInfo info = own_info(reader);
    const UnetRowFormat format = unet_image_format(reader);
    const UnetResizeShape shape = {.from = {info.height, info.width},
                                   .to = {reader->resized[0], reader->resized[1]},
                                   .channels = reader->shown_channels,
                                   .bits = info.bits,
                                   .nearest = reader->classes || reader->packed};
    const size_t row = (unet_row_bytes(&format) + 63) / 64 * 64, bytes = unet_resize_bytes(&shape);
    size_t all;
    reader->resize_row =
        bytes > 0 && checked_add(row, bytes, &all) ? image_memory_take(reader->memory, all) : NULL;
    if (reader->resize_row == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    reader->resize = unet_resize_at(reader->resize_row + row, &shape);
    return UNET_OK;
}

/* Rows that are asked for no more are passed over. */
static UnetStatus pass_rows(UnetImageReader *reader, int32_t count, UnetError *error) {
    const UnetStatus status = reader->resize == NULL ? begin_resizing(reader, error) : UNET_OK;
    if (status == UNET_OK) {
        unet_resize_skip(reader->resize, count);
        reader->resized_row += count;
    }
    return status;
}

static UnetStatus resize_row(UnetImageReader *reader, UnetError *error) {
    UnetStatus status = pass_rows(reader, 0, error);
    if (status == UNET_OK && reader->resized_row >= reader->resized[0]) {
        return unet_fail(error, UNET_BUG, "%s: read beyond its last row", reader->path);
    }
    while (status == UNET_OK && unet_resize_wants(reader->resize)) {
        status = decode_own_row(reader, error);
        if (status == UNET_OK) {
            unet_resize_push(reader->resize, own_row(reader));
        }
    }
    if (status == UNET_OK) {
        unet_resize_pull(reader->resize, reader->resize_row);
        reader->resized_row++;
    }
    /* The last row may need none of the last ones: these are read all the same, so that damage is seen. */
    const bool ends = reader->resized_row == reader->resized[0];
    while (ends && status == UNET_OK && reader->next_row < own_info(reader).height) {
        status = decode_own_row(reader, error);
    }
    return status;
}

UnetStatus unet_image_decode_row(UnetImageReader *reader, UnetError *error) {
    return resizes(reader) ? resize_row(reader, error) : decode_own_row(reader, error);
}

const uint8_t *unet_image_bytes(const UnetImageReader *reader) {
    return resizes(reader) ? reader->resize_row : own_row(reader);
}

UnetRowFormat unet_image_format(const UnetImageReader *reader) {
    return (UnetRowFormat){.width = unet_image_info(reader).width,
                           .channels = reader->shape.channels,
                           .stored = reader->shown_channels,
                           .bits = reader->shape.bits,
                           .classes = reader->classes || reader->packed,
                           .colours = reader->packed};
}

size_t unet_row_bytes(const UnetRowFormat *format) {
    return (size_t)format->width * (size_t)format->stored * (size_t)(format->bits / 8);
}

/* COUNT numbers of BITS each, STEP bytes apart; the caller names BITS, so that the loop knows them. */
static inline void convert_bits(int32_t bits, float one, const uint8_t *from, ptrdiff_t step, int32_t count,
                                float *to) {
    for (int32_t x = 0; x < count; x++) {
        to[x] = (float)unet_stored_number(bits, from + x * step) / one;
    }
}

/* One channel of a row: COUNT numbers, the first one at FROM. */
static void convert(const UnetRowFormat *format, const uint8_t *from, int32_t count, float *to) {
    const ptrdiff_t step = unet_number_bytes(format) * format->stored;
    const float one = unet_row_one(format);
    if (format->colours) {
        for (int32_t x = 0; x < count; x++) {
            to[x] = unet_class_number(format, from + x * step);
        }
    } else if (format->bits == 8) {
        convert_bits(8, one, from, step, count, to);
    } else if (format->bits == 16) {
        convert_bits(16, one, from, step, count, to);
    } else {
        convert_bits(32, one, from, step, count, to);
    }
}

void unet_row_convert(const UnetRowFormat *format, const uint8_t *row, int32_t first, int32_t count,
                      float *values) {
    const ptrdiff_t sample = unet_number_bytes(format);
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
    UnetStatus status = resizes(reader) ? pass_rows(reader, count, error) : UNET_OK;
    for (int32_t i = 0; i < count && !resizes(reader) && status == UNET_OK; i++) {
        status = decode_own_row(reader, error);
    }
    return status;
}

/* ---- missing numbers -------------------------------------------------------------------------- */

bool unet_settle_missing(const UnetImageWay *way, float *value, size_t count) {
    const float settled = way->missing == UNET_MISSING_VALUE ? (float)way->missing_value : NAN;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(value[i])) {
            if (way->missing == UNET_MISSING_REFUSED) {
                return false;
            }
            value[i] = settled;
        }
    }
    return true;
}

UnetStatus unet_fail_missing(const char *path, UnetError *error) {
    return unet_fail(
        error, UNET_IO,
        "%.700s has values that are no numbers (NaN, infinite or nodata); `missing = 0` in "
        "`images(...)` says which number they are, `missing = \"ignore\"` that labels there count "
        "nowhere",
        path);
}

/* ---- probing ---------------------------------------------------------------------------------- */

UnetStatus unet_image_check_end(UnetImageReader *reader, UnetError *error) {
    return reader->format->is_complete(&reader->file)
               ? UNET_OK
               : image_fail(reader, error, "cut short: it has no end mark");
}

UnetStatus unet_image_probe(const char *path, UnetImageInfo *info, UnetError *error) {
    UnetImageReader *reader;
    UnetStatus status = unet_image_open(&reader, path, 0, error);
    if (reader == NULL) {
        return status;
    }
    *info = unet_image_info(reader);
    status = unet_image_check_end(reader, error);
    unet_image_close(reader);
    return status;
}
