/* image_webp.c - WebP files, decoded through libwebp, which holds the file and the image whole. */
#include "image_format.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <webp/decode.h>

enum { HEAD_BYTES = 4096 };

/* Nothing else: libwebp keeps no state between calls. */
typedef struct {
    bool has_alpha;
} Decoder;

static bool fail(UnetImageReader *reader, const char *why) {
    (void)snprintf(reader->reason, sizeof reader->reason, "%s", why);
    return false;
}

static bool is_webp(const uint8_t *signature) {
    return memcmp(signature, "RIFF", 4) == 0 && memcmp(signature + 8, "WEBP", 4) == 0;
}

static const char *reason_of(VP8StatusCode code) {
    return code == VP8_STATUS_OUT_OF_MEMORY     ? "out of memory"
           : code == VP8_STATUS_NOT_ENOUGH_DATA ? "it ends too early"
                                                : "its codes cannot be read";
}

static bool read_header(UnetImageReader *reader) {
    Decoder *d = reader->decoder;
    uint8_t head[HEAD_BYTES];
    WebPBitstreamFeatures found;
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    const size_t count = image_file_read(&reader->file, head, sizeof head);
    const VP8StatusCode code = WebPGetFeatures(head, count, &found);
    if (code != VP8_STATUS_OK) {
        reader->cut_short = code == VP8_STATUS_NOT_ENOUGH_DATA;
        return fail(reader, reason_of(code));
    }
    if (found.has_animation != 0) {
        return fail(reader, "a film: take its pictures out, as PNG for example");
    }
    d->has_alpha = found.has_alpha != 0;
    reader->shape = (UnetImageInfo){.width = found.width,
                                    .height = found.height,
                                    .channels = 3,
                                    .bits = 8,
                                    .interlaced = true,
                                    .traits = d->has_alpha ? UNET_IMAGE_ALPHA : 0};
    reader->row_bytes = 3 * (size_t)found.width;
    return (found.width > 0 && found.height > 0) || fail(reader, "its size is no size");
}

static UnetStatus open_webp(UnetImageReader *reader, UnetError *error) {
    reader->decoder = image_memory_take_zeroed(reader->memory, sizeof(Decoder));
    if (reader->decoder == NULL) {
        return image_fail(reader, error, "out of memory");
    }
    return read_header(reader) ? UNET_OK : image_fail_decoding(reader, error);
}

static bool begin_webp(UnetImageReader *reader) {
    reader->stored_channels = reader->keeps_alpha ? 4 : 3;
    reader->row_bytes = (size_t)reader->shape.width * (size_t)reader->stored_channels;
    return true;
}

/* COUNT bytes of DATA into all rows. */
static bool decode_into(UnetImageReader *reader, const uint8_t *data, size_t count) {
    WebPDecoderConfig config;
    if (WebPInitDecoderConfig(&config) == 0) {
        return fail(reader, "another version of libwebp");
    }
    config.output.colorspace = reader->keeps_alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = reader->rows;
    config.output.u.RGBA.stride = (int)reader->row_bytes;
    config.output.u.RGBA.size = reader->row_bytes * (size_t)reader->shape.height;
    const VP8StatusCode code = WebPDecode(data, count, &config);
    const bool as_said =
        config.input.width == reader->shape.width && config.input.height == reader->shape.height;
    WebPFreeDecBuffer(&config.output);
    reader->cut_short |= code == VP8_STATUS_NOT_ENOUGH_DATA || code == VP8_STATUS_SUSPENDED;
    return code == VP8_STATUS_OK ? as_said || fail(reader, "two sizes") : fail(reader, reason_of(code));
}

static bool decode_all(UnetImageReader *reader) {
    struct stat status;
    if (fstat(reader->file.fd, &status) != 0 || status.st_size <= 0) {
        return fail(reader, "its length is not known");
    }
    const size_t count = (size_t)status.st_size;
    uint8_t *data = image_memory_take(reader->memory, count);
    if (data == NULL) {
        return fail(reader, "out of memory");
    }
    (void)image_file_seek(&reader->file, 0, SEEK_SET);
    const bool good = image_file_read(&reader->file, data, count) == count
                          ? decode_into(reader, data, count)
                          : fail(reader, "it ends too early");
    image_memory_give(reader->memory, data);
    return good;
}

static bool decode_row(UnetImageReader *reader) {
    return fail(reader, "its rows come at once");
}

/* Whether the file is as long as its first chunk says. */
static bool is_complete(ImageFile *file) {
    uint8_t bytes[4];
    if (!image_file_seek(file, 4, SEEK_SET) || image_file_read(file, bytes, sizeof bytes) != sizeof bytes ||
        !image_file_seek(file, 0, SEEK_END)) {
        return false;
    }
    const uint32_t said =
        (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
    return image_file_place(file) >= (off_t)said + 8;
}

static void close_webp(UnetImageReader *reader) {
    (void)reader;
}

/* One colour takes no bits of a lossless file: a mask of nothing is a few dozen bytes, whatever its size.
 */
const ImageFormat image_webp = {.name = "WebP",
                                .most_expansion = 1 << 20,
                                .is = is_webp,
                                .open = open_webp,
                                .begin = begin_webp,
                                .decode_row = decode_row,
                                .decode_all = decode_all,
                                .is_complete = is_complete,
                                .close = close_webp};
