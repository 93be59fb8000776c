/* number.h - numbers as files have them, in this machine's order of bytes; private to the runtime. */
#ifndef UNET_NUMBER_H
#define UNET_NUMBER_H

#include <stdint.h>
#include <string.h>

typedef enum { NUMBER_UNSIGNED, NUMBER_SIGNED, NUMBER_FLOAT } NumberKind;

static inline float float_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: 5 bits of exponent, 10 of fraction; numbers below 2^-14 are multiples of 2^-24. */
static inline float half_value(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7fffu;
    if (magnitude >= 0x7c00u)
        return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude < 0x400u)
        return (sign != 0 ? -0x1p-24f : 0x1p-24f) * (float)magnitude;
    return float_of_bits(sign | ((magnitude << 13) + (112u << 23)));
}

/* Returns the number at AT, of 8, 16, 32 or 64 BITS; a float has at least 16. */
double file_number(NumberKind kind, int bits, const uint8_t *at);

#endif
