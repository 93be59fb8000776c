/* compress.c - a tensor in codes: groups of 16 channels of 16 points of a row, as unet/groups.h says. */
#include "draws.c"

#define KERNEL compress
#define AT_RUN_TIME NUMBER, H, W
#include "../example.h"

/* BEGIN */
#include <math.h>
#include <unet/groups.h>

/* The numbers from which the codes of a group follow. */
typedef struct {
    real low, high;
    int finite; /* all of them */
} KERNEL_Range;

/* The lanes of vector v of a block that hold CHANNELS of it. */
INLINE Bits KERNEL_there(int v, int channels) {
    SIZES;
    Bits lane = {0};
    for (int i = 0; i < LANES; i++)
        lane[i] = v * LANES + i;
    return lane < channels;
}

INLINE KERNEL_Range KERNEL_range(const stored *x, int points, int channels) {
    SIZES;
    Vector low = (Vector){0} + INFINITY, high = -low;
    Bits other = {0};
    for (int v = 0; v < PARTS; v++) {
        const Bits there = KERNEL_there(v, channels);
        for (int p = 0; p < points; p++) {
            const Vector number = load(x + p * BLOCK + v * LANES);
            const Bits counts = ZEROS ? there & (number > 0) : there;
            other |= there & ~(number - number == 0);
            low = vector_choose(counts & (number < low), number, low);
            high = vector_choose(counts & (number > high), number, high);
        }
    }
    KERNEL_Range range = {INFINITY, -INFINITY, 1};
    for (int i = 0; i < LANES; i++) {
        range.low = low[i] < range.low ? low[i] : range.low;
        range.high = high[i] > range.high ? high[i] : range.high;
        range.finite &= other[i] == 0;
    }
    return range.low <= range.high ? range : (KERNEL_Range){0, 0, range.finite};
}

/* The codes of a vector of numbers; DRAW: 16 random bits for each. */
INLINE Bits KERNEL_codes(Vector x, real low, real step, Bits draw) {
    SIZES;
    const int top = UNET_GROUP_TOP(CODE_BITS);
    const real most = (real)(top - ZEROS) * UNET_GROUP_ONE;
    Vector t = (x - low) * (UNET_GROUP_ONE / step);
    t = vector_choose(t > 0, t, (Vector){0});
    t = vector_choose(t < most, t, (Vector){0} + most);
    Bits code = ZEROS + ((__builtin_convertvector(t, Bits) + draw) >> 16);
    code = (code & (code < top)) | (top & ~(code < top));
    if (ZEROS)
        code &= x > 0;
    if (SIGNED && step == step) {
        const Bits is = low + step * __builtin_convertvector(code, Vector) > 0, was = x > 0;
        code += (was & ~is & 1) - (is & ~was & 1);
    }
    return code;
}

/* The group of some points of a row; POINT: the first of them in its sample, V: the first vector. */
NOINLINE void KERNEL_group(uint8_t *restrict group, const stored *restrict x, int points, int channels,
                           uint64_t key, uint32_t point, int first) {
    SIZES;
    uint8_t code[UNET_GROUP_SIZE] = {0};
    const KERNEL_Range range = KERNEL_range(x, points, channels);
    const float step = range.finite ? unet_group_step(range.low, range.high, CODE_BITS, ZEROS) : NAN;
    memcpy(group, &range.low, sizeof range.low);
    memcpy(group + sizeof range.low, &step, sizeof step);
    for (int p = 0; p < points; p++) {
        const uint32_t number = draws_at(key, point + (uint32_t)p);
        for (int v = 0; v < PARTS; v++) {
            const Bits draw = (Bits)(draws_lanes(number, first + v) >> 16);
            const Bits codes = KERNEL_there(v, channels) &
                               KERNEL_codes(load(x + p * BLOCK + v * LANES), range.low, step, draw);
            const Bytes bytes = __builtin_convertvector(codes, Bytes);
            memcpy(code + p * BLOCK + v * LANES, &bytes, sizeof bytes);
        }
    }
    enum { HELD = UNET_GROUP_SIZE / 8 * CODE_BITS };
    for (int b = 0; b < HELD; b++) {
        int byte = code[b];
        for (int k = 1; k < 8 / CODE_BITS; k++)
            byte |= code[b + k * HELD] << k * CODE_BITS;
        group[UNET_GROUP_HEAD + b] = (uint8_t)byte;
    }
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, uint8_t *codes,
                          const stored *x) {
    SIZES;
    const int columns = UNET_GROUPS_ALONG(W);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < X.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const uint64_t key = draws_key(seed, step, NUMBER, start + i);
                const Point row = {i, r / H, r % H, 0};
                const stored *const from = x + offset_of(&X, block, row);
                uint8_t *const to = codes + offset_of(&CODES, 0, row);
                for (int column = 0; column < columns; column++)
                    KERNEL_group(to + (block * columns + column) * UNET_GROUP_BYTES(CODE_BITS),
                                 from + (long)column * UNET_GROUP_SIZE,
                                 min_int(W - column * UNET_GROUP_POINTS, UNET_GROUP_POINTS),
                                 min_int(C - block * BLOCK, BLOCK), key,
                                 (uint32_t)r * (uint32_t)W + (uint32_t)(column * UNET_GROUP_POINTS),
                                 block * PARTS);
            }
}
/* END */
