/* size_math.h - arithmetic of sizes that says when it overflows; private to the runtime. */
#ifndef UNET_SIZE_MATH_H
#define UNET_SIZE_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_mul(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

static inline bool checked_add(size_t a, size_t b, size_t *sum) {
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool checked_mul64(int64_t a, int64_t b, int64_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}

/* Rounds up to a multiple of 64, the alignment of all buffers. */
static inline bool checked_align64(size_t bytes, size_t *rounded) {
    if (!checked_add(bytes, 63, rounded)) {
        return false;
    }
    *rounded &= ~(size_t)63;
    return true;
}

#endif
