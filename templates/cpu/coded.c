/* coded.c - a group of numbers in codes (unet/groups.h), as its readers see it. */
#include "prologue.c"

/* BEGIN */
#include <unet/groups.h>

/* The lowest number, the step, and the codes. */
typedef struct {
    real low, step;
    const uint8_t *code;
} Coded;

INLINE Coded coded_group(const uint8_t *group) {
    Coded c = {.code = group + UNET_GROUP_HEAD};
    memcpy(&c.low, group, sizeof c.low);
    memcpy(&c.step, group + sizeof c.low, sizeof c.step);
    return c;
}

/* The codes, of so many bits, of vector v of point p. */
INLINE Bits coded_lanes(const Coded *c, int bits, int p, int v) {
    const int apart = 2 * bits;
    Bytes bytes;
    memcpy(&bytes, c->code + p % apart * BLOCK + v * LANES, sizeof bytes);
    return __builtin_convertvector(bytes, Bits) >> p / apart * bits & UNET_GROUP_TOP(bits);
}

INLINE Vector coded_numbers(const Coded *c, Bits code) {
    return c->low + c->step * __builtin_convertvector(code, Vector);
}
/* END */
