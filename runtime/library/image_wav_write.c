/* image_wav_write.c - an image of one row as a WAV file: whole numbers of 8, 16 or 24 bits, or floats.
 *
 * Its sizes are known before its numbers, so that the head is written first and never again; this needs no
 * library. */
#include "image_format.h"

#include <string.h>

#include "wav.h"

enum { HEAD_BYTES = 44, BEFORE_LENGTH = 8, FORMAT_BYTES = 16, RATE_UNASKED = 16000 };

static uint64_t number_bytes(const UnetImageInfo *info) {
    return (uint64_t)info->width * (uint64_t)info->channels * (uint64_t)(info->bits / 8);
}

/* A chunk of an odd number of bytes has one more behind it, which its own length does not count. */
static uint64_t pad_bytes(const UnetImageInfo *info) {
    return number_bytes(info) % 2;
}

static UnetStatus check_wav(const char *path, const UnetImageInfo *info, UnetError *error) {
    if (info->height > 1) {
        return unet_fail(
            error, UNET_USAGE,
            "%s: a WAV file holds one row, a signal, and this image has %d: name it .png, .tif "
            "or .npy",
            path, (int)info->height);
    }
    if (number_bytes(info) > UINT32_MAX - HEAD_BYTES) {
        return unet_fail(error, UNET_USAGE,
                         "%s: a WAV file has at most 4 GiB, and this is more: name it .npy", path);
    }
    return UNET_OK;
}

/* The lowest byte first; returns where the next number goes. */
static uint8_t *put(uint8_t *at, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) {
        *at++ = (uint8_t)(number >> 8 * i);
    }
    return at;
}

static uint8_t *put_name(uint8_t *at, const char *name) {
    memcpy(at, name, 4);
    return at + 4;
}

static bool begin_wav(UnetImageWriter *writer) {
    const UnetImageInfo *shape = &writer->shape;
    const uint64_t bytes = number_bytes(shape),
                   rate = shape->rate > 0 ? (uint64_t)shape->rate : RATE_UNASKED;
    const uint64_t frame = (uint64_t)shape->channels * (uint64_t)(shape->bits / 8);
    const uint64_t second =
        rate * frame < UINT32_MAX ? rate * frame : UINT32_MAX; /* players need it alone */
    uint8_t head[HEAD_BYTES], *at = put_name(head, "RIFF");
    at = put(at, bytes + pad_bytes(shape) + HEAD_BYTES - BEFORE_LENGTH, 4);
    at = put_name(at, "WAVE");
    at = put_name(at, "fmt ");
    at = put(at, FORMAT_BYTES, 4);
    at = put(at, shape->bits == 32 ? WAV_FLOAT : WAV_PCM, 2);
    at = put(at, (uint64_t)shape->channels, 2);
    at = put(at, rate, 4);
    at = put(at, second, 4);
    at = put(at, frame, 2);
    at = put(at, (uint64_t)shape->bits, 2);
    at = put_name(at, "data");
    (void)put(at, bytes, 4);
    return unet_atomic_write(&writer->file, head, sizeof head, &writer->error) == UNET_OK;
}

static bool write_row(UnetImageWriter *writer) {
    image_turn_bytes(writer);
    return unet_atomic_write(&writer->file, writer->row, writer->row_bytes, &writer->error) == UNET_OK;
}

static bool write_end(UnetImageWriter *writer) {
    const uint8_t pad = 0;
    return unet_atomic_write(&writer->file, &pad, (size_t)pad_bytes(&writer->shape), &writer->error) ==
           UNET_OK;
}

static void close_wav(UnetImageWriter *writer) {
    (void)writer;
}

const ImageEncoder image_wav_encoder = {.signal = true,
                                        .check = check_wav,
                                        .begin = begin_wav,
                                        .write_row = write_row,
                                        .end = write_end,
                                        .close = close_wav};
