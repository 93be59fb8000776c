/* image_reduce.c - decoded rows with fewer channels: colours as grey, alpha alone, colours of print as red,
 * green and blue. */
#include "image_format.h"

#include <string.h>

static uint32_t number_at(int32_t bits, const uint8_t *at) {
    return bits == 16 ? (uint32_t)at[0] << 8 | at[1] : *at;
}

static void put_number(int32_t bits, uint8_t *at, uint32_t number) {
    if (bits == 16) {
        *at++ = (uint8_t)(number >> 8);
    }
    *at = (uint8_t)number;
}

/* ITU-R 601, in the integers of Pillow: 65536 in all. */
static uint32_t luma(uint32_t red, uint32_t green, uint32_t blue) {
    return (uint32_t)(((uint64_t)red * 19595 + (uint64_t)green * 38470 + (uint64_t)blue * 7471 + 0x8000) >>
                      16);
}

static void to_grey(int32_t bits, const uint8_t *from, uint8_t *to) {
    const size_t number = (size_t)bits / 8;
    float value[3];
    if (bits == 32) {
        memcpy(value, from, sizeof value);
        value[0] = 0.299f * value[0] + 0.587f * value[1] + 0.114f * value[2];
        memcpy(to, value, sizeof *value);
        return;
    }
    put_number(
        bits, to,
        luma(number_at(bits, from), number_at(bits, from + number), number_at(bits, from + 2 * number)));
}

static void to_alpha(int32_t bits, int32_t stored, const uint8_t *from, uint8_t *to) {
    const size_t number = (size_t)bits / 8;
    memmove(to, from + (size_t)(stored - 1) * number, number);
}

/* (255 - C) (255 - K) / 255, rounded; of inverted numbers, which Adobe writes, C K / 255. */
static void from_cmyk(bool inverted, int32_t bits, const uint8_t *from, uint8_t *to) {
    const uint32_t most = bits == 16 ? UINT16_MAX : UINT8_MAX;
    const size_t number = (size_t)bits / 8;
    uint32_t ink[4];
    for (size_t i = 0; i < 4; i++) {
        ink[i] = number_at(bits, from + i * number);
        ink[i] = inverted ? ink[i] : most - ink[i];
    }
    for (size_t i = 0; i < 3; i++) {
        put_number(bits, to + i * number, (uint32_t)(((uint64_t)ink[i] * ink[3] + most / 2) / most));
    }
}

void image_reduce_row(const UnetImageReader *reader, uint8_t *row, int32_t width) {
    const int32_t bits = reader->shape.bits, stored = reader->stored_channels;
    const size_t number = (size_t)bits / 8, step = number * (size_t)stored,
                 shown = number * (size_t)reader->shown_channels;
    const uint8_t *from = row;
    if (reader->reduction == REDUCE_NOT && !reader->has_cmyk) {
        return;
    }
    for (int32_t x = 0; x < width; x++, from += step, row += shown) {
        if (reader->has_cmyk) {
            from_cmyk(reader->inverted, bits, from, row);
        }
        if (reader->reduction == REDUCE_TO_GREY) {
            to_grey(bits, reader->has_cmyk ? row : from, row);
        } else if (reader->reduction == REDUCE_TO_ALPHA) {
            to_alpha(bits, stored, from, row);
        }
    }
}
