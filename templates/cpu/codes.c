/* codes.c - the optimiser's state in 8 bits, a block at a time, as unet/codes.h says.
 *
 * The sign, the exponent and seven bits of a share name its bucket.  No two borders lie in one bucket, so a
 * table of the lowest code in each bucket and one comparison find a code.  Shares below 2^-23 are in the
 * first bucket: the lowest border above 0 is larger. */
#include "prologue.c"

/* BEGIN */
#include <math.h>
#include <unet/codes.h>

enum {
    FIRST_BUCKET = 0x3400,               /* the upper half of 2^-23, and */
    BUCKETS = 0x3f80 - FIRST_BUCKET + 1, /* of 1 */
};

/* The shares of all codes, the borders between each and the next one, and the lowest code in each bucket of
 * shares above 0 and below. */
typedef struct {
    real share[UNET_CODES], border[UNET_CODES];
    uint8_t lowest[2][BUCKETS];
} CodeBook;

/* The share of bucket BUCKET that is nearest to 0, or the one that is farthest from it. */
INLINE real bucket_end(int bucket, int far) {
    const uint32_t bits = (uint32_t)(bucket + FIRST_BUCKET) << 16 | (far ? 0xffff : 0);
    real share;
    memcpy(&share, &bits, sizeof share);
    return bucket == 0 && !far ? 0 : share;
}

NOINLINE void code_book(CodeBook *book, int has_sign) {
    for (int code = 0; code < UNET_CODES; code++)
        book->share[code] = (real)unet_code_share(code, has_sign);
    for (int code = 0; code + 1 < UNET_CODES; code++)
        book->border[code] = (real)unet_code_border(code, has_sign);
    book->border[UNET_CODES - 1] = 1;
    int code = 0;
    for (int bucket = BUCKETS - 1; bucket >= 0; bucket--) {
        while (-bucket_end(bucket, 1) > book->border[code])
            code++;
        book->lowest[1][bucket] = (uint8_t)code;
    }
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        while (bucket_end(bucket, 0) > book->border[code])
            code++;
        book->lowest[0][bucket] = (uint8_t)code;
    }
}

/* A block of a tensor: its first element in the region, and how many it has; the places, in bytes of the
 * region of a state, of its codes and of its maximum. */
typedef struct {
    long first, count, codes, maximum;
} StateBlock;

/* Block BLOCK of all, which is one of this row of TENSOR. */
INLINE StateBlock state_block(const long *tensor, long block) {
    const long inside = block - tensor[0], first = inside * UNET_CODE_BLOCK, left = tensor[2] - first;
    return (StateBlock){tensor[1] + first, left < UNET_CODE_BLOCK ? left : UNET_CODE_BLOCK,
                        tensor[3] + first,
                        tensor[3] + unet_code_maxima(tensor[2]) + inside * (long)sizeof(real)};
}

/* The states in reals, which lie behind those in codes; ROW: the last of TENSOR. */
INLINE real *state_reals(void *state, const long *row) {
    return state == NULL ? NULL : (real *)(void *)((char *)state + row[3]);
}

NOINLINE void decode_block(const CodeBook *book, const uint8_t *state, StateBlock block, real *restrict x) {
    const uint8_t *restrict code = state + block.codes;
    real maximum;
    memcpy(&maximum, state + block.maximum, sizeof maximum);
#pragma omp simd
    for (long i = 0; i < block.count; i++)
        x[i] = book->share[code[i]] * maximum;
}

/* The largest absolute value; a NaN counts nowhere. */
INLINE real block_maximum(const real *x, long count) {
    real maximum = 0;
#pragma omp simd reduction(max : maximum)
    for (long i = 0; i < count; i++)
        maximum = fabsf(x[i]) > maximum ? fabsf(x[i]) : maximum;
    return maximum;
}

/* A NaN has the lowest code. */
INLINE uint8_t code_of(const CodeBook *book, real share) {
    uint32_t bits;
    share = share == share ? share : book->share[0];
    memcpy(&bits, &share, sizeof bits);
    const int bucket = (int)(bits >> 16 & 0x7fff) - FIRST_BUCKET,
              lowest = book->lowest[bits >> 31][bucket < 0 ? 0 : bucket];
    return (uint8_t)(lowest + (share > book->border[lowest]));
}

NOINLINE void encode_block(const CodeBook *book, uint8_t *state, StateBlock block, const real *restrict x) {
    uint8_t *restrict code = state + block.codes;
    const real maximum = block_maximum(x, block.count);
    memcpy(state + block.maximum, &maximum, sizeof maximum);
    for (long i = 0; i < block.count; i++)
        code[i] = code_of(book, maximum > 0 ? x[i] / maximum : 0);
}
/* Second moments of Adam are at least so many times the square of the first (unet/codes.h). */
NOINLINE void raise_moments(real least, long count, const real *restrict mean, real *restrict square) {
#pragma omp simd
    for (long i = 0; i < count; i++) {
        const real bound = least * mean[i] * mean[i];
        square[i] = bound > square[i] ? bound : square[i];
    }
}
/* END */
