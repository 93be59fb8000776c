/* picture.c - the PNG file of a picture, made in memory by zlib alone: libpng writes files, row by row. */
#include "unet/picture.h"
#include "size_math.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { SIGNATURE_BYTES = 8, CHUNK_BYTES = 12, HEADER_BYTES = 13 };

static uint8_t *put32(uint8_t *to, size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        *to++ = (uint8_t)(number >> shift);
    }
    return to;
}

/* Head and foot of a chunk whose COUNT bytes are in place, 8 behind TO; returns where the next one goes. */
static uint8_t *put_chunk(uint8_t *to, const char *name, size_t count) {
    put32(to, count);
    memcpy(to + 4, name, 4);
    return put32(to + 8 + count, crc32(0, to + 4, (uInt)count + 4));
}

/* The neighbour on the LEFT, ABOVE, or in the CORNER between them that is nearest to their plane. */
static uint8_t guess(uint8_t left, uint8_t above, uint8_t corner) {
    const int from_left = abs(above - corner), from_above = abs(left - corner),
              from_corner = abs(left + above - 2 * corner);
    if (from_left <= from_above && from_left <= from_corner) {
        return left;
    }
    return from_above <= from_corner ? above : corner;
}

/* Each number of the ROW of COUNT less its guess, which PNG calls Paeth; ABOVE is NULL in the first row. */
static void filter_row(const uint8_t *row, const uint8_t *above, size_t point, size_t count, uint8_t *to) {
    for (size_t i = 0; i < count; i++) {
        const uint8_t left = i >= point ? row[i - point] : 0, up = above != NULL ? above[i] : 0,
                      corner = i >= point && above != NULL ? above[i - point] : 0;
        to[i] = (uint8_t)(row[i] - guess(left, up, corner));
    }
}

/* Each row with the byte in front that says what was done to it. */
static void put_rows(const UnetPicture *picture, bool filters, size_t row, uint8_t *to) {
    enum { PLAIN = 0, PAETH = 4 };
    for (int32_t y = 0; y < picture->height; y++) {
        const uint8_t *from = picture->points + (size_t)y * row;
        *to = filters ? PAETH : PLAIN;
        if (filters) {
            filter_row(from, y > 0 ? from - row : NULL, (size_t)picture->channels, row, to + 1);
        } else {
            memcpy(to + 1, from, row);
        }
        to += row + 1;
    }
}

/* PNG has room for it; returns the bytes that it takes, 0 on failure. */
static size_t put_png(const UnetPicture *picture, int level, const uint8_t *rows, size_t row_bytes,
                      uint8_t *png, uLong room) {
    static const uint8_t signature[SIGNATURE_BYTES] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10};
    static const uint8_t kind[5] = {8, 0, 0, 0, 0}; /* bits, and no colours, as they are, ... */
    uint8_t *at = png + SIGNATURE_BYTES;
    memcpy(png, signature, sizeof signature);
    put32(put32(at + 8, (size_t)picture->width), (size_t)picture->height);
    memcpy(at + 16, kind, sizeof kind);
    at[17] = picture->channels == 3 ? 2 : 0;
    at = put_chunk(at, "IHDR", HEADER_BYTES);
    if (compress2(at + 8, &room, rows, (uLong)row_bytes, level) != Z_OK) {
        return 0;
    }
    at = put_chunk(at, "IDAT", room);
    return (size_t)(put_chunk(at, "IEND", 0) - png);
}

UnetStatus unet_picture_png(const UnetPicture *picture, bool small, uint8_t **png, size_t *length,
                            UnetError *error) {
    const size_t row = (size_t)picture->width * (size_t)picture->channels;
    size_t bytes;
    *png = NULL;
    *length = 0;
    if (!checked_mul(row + 1, (size_t)picture->height, &bytes) || bytes > INT32_MAX) {
        return unet_fail(error, UNET_BUG, "a picture of %d x %d points is too large to be shown",
                         picture->height, picture->width);
    }
    const uLong room = compressBound((uLong)bytes);
    uint8_t *rows = malloc(bytes);
    *png = malloc(SIGNATURE_BYTES + 3 * CHUNK_BYTES + HEADER_BYTES + room);
    if (rows != NULL && *png != NULL) {
        put_rows(picture, small, row, rows);
        *length = put_png(picture, small ? Z_DEFAULT_COMPRESSION : Z_BEST_SPEED, rows, bytes, *png, room);
    }
    free(rows);
    if (*length > 0) {
        return UNET_OK;
    }
    free(*png);
    *png = NULL;
    return unet_fail(error, UNET_TOO_SMALL, "no memory for a picture of %d x %d points", picture->height,
                     picture->width);
}

/* ---- signals ---------------------------------------------------------------------------------- */

static int32_t loudest_of(const UnetPicture *row) {
    int32_t loudest = 1;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)row->width * row->channels; i++) {
        const int32_t apart = abs(row->points[i] - 128);
        loudest = apart > loudest ? apart : loudest;
    }
    return loudest;
}

/* The line of an amplitude: the loudest is the first or the last. */
static int32_t line_of(int32_t byte, int32_t loudest) {
    const int32_t middle = UNET_WAVE_HEIGHT / 2;
    const int32_t line = middle - (byte - 128) * (middle - 1) / loudest;
    return line < 0 ? 0 : line >= UNET_WAVE_HEIGHT ? UNET_WAVE_HEIGHT - 1 : line;
}

/* Column X, which shows the points of ROW from FIRST to END, of CHANNEL. */
static void draw_column(const UnetPicture *row, int32_t channel, int32_t x, int32_t first, int32_t end,
                        int32_t loudest, const UnetPicture *wave, uint8_t *points) {
    int32_t least = 255, most = 0;
    for (int32_t i = first; i < end; i++) {
        const uint8_t byte = row->points[(ptrdiff_t)i * row->channels + channel];
        least = byte < least ? byte : least;
        most = byte > most ? byte : most;
    }
    for (int32_t y = line_of(most, loudest); y <= line_of(least, loudest); y++) {
        points[((ptrdiff_t)y * wave->width + x) * wave->channels + channel] = 40;
    }
}

UnetPicture unet_picture_wave(const UnetPicture *row, bool classes, uint8_t points[UNET_WAVE_BYTES]) {
    const int32_t width = row->width < UNET_WAVE_WIDTH ? row->width : UNET_WAVE_WIDTH,
                  loudest = loudest_of(row);
    const UnetPicture wave = {UNET_WAVE_HEIGHT, width, row->channels, points, row->width};
    memset(points, 255, UNET_WAVE_BYTES);
    for (int32_t x = 0; x < width; x++) {
        const int32_t first = (int32_t)((int64_t)x * row->width / width),
                      end = (int32_t)((int64_t)(x + 1) * row->width / width);
        for (int32_t c = 0; c < row->channels && !classes; c++) {
            draw_column(row, c, x, first, end, loudest, &wave, points);
        }
        for (int32_t y = 0; y < wave.height && classes; y++) {
            memcpy(points + ((ptrdiff_t)y * width + x) * row->channels,
                   row->points + (ptrdiff_t)first * row->channels, (size_t)row->channels);
        }
    }
    return wave;
}
