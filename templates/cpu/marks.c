/* marks.c - what a pool over windows of 2x2 points writes down for its gradient, a byte for each window: in
 * the lowest bits the number of the tap that has the maximum, from bit 4 on a bit for each tap whether its
 * value is above zero. */
#include "prologue.c"

/* BEGIN */
enum { TAPS = 4, TAP_BITS = 3, PASSES = 16 };
typedef uint8_t Marks __attribute__((vector_size(LANES)));

INLINE Bits load_marks(const uint8_t *p, int lanes) {
    Marks marks = {0};
    memcpy(&marks, p, (size_t)min_int(lanes, LANES));
    return __builtin_convertvector(marks, Bits);
}

INLINE void store_marks(uint8_t *p, Bits bits, int lanes) {
    const Marks marks = __builtin_convertvector(bits, Marks);
    memcpy(p, &marks, (size_t)min_int(lanes, LANES));
}

/* Tap number `tap` of window o. */
INLINE Point tap_of(Point o, int tap) {
    return (Point){o.n, o.d, 2 * o.h + tap / 2, 2 * o.w + tap % 2};
}
/* END */
