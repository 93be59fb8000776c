/* number.c - see number.h. */
#include "number.h"

#include <stdbool.h>

static double float_number(int bits, uint64_t stored) {
    double wide;
    if (bits == 16) {
        return (double)half_value((uint16_t)stored);
    }
    if (bits == 32) {
        return (double)float_of_bits((uint32_t)stored);
    }
    memcpy(&wide, &stored, sizeof wide);
    return wide;
}

double file_number(NumberKind kind, int bits, const uint8_t *at) {
    uint8_t byte;
    uint16_t two;
    uint32_t four;
    uint64_t stored;
    if (bits == 8) {
        memcpy(&byte, at, sizeof byte);
        stored = byte;
    } else if (bits == 16) {
        memcpy(&two, at, sizeof two);
        stored = two;
    } else if (bits == 32) {
        memcpy(&four, at, sizeof four);
        stored = four;
    } else {
        memcpy(&stored, at, sizeof stored);
    }
    if (kind == NUMBER_FLOAT) {
        return float_number(bits, stored);
    }
    const bool negative = kind == NUMBER_SIGNED && (stored >> (bits - 1) & 1) != 0;
    if (!negative) {
        return (double)stored;
    }
    const uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return -(double)((~stored & all) + 1);
}
