/* compress.c - a tensor in codes: groups of 16 channels of 16 points of a row, as unet/groups.h says. */
#include "draws.c"

#define KERNEL compress
#include "../example.h"

/* BEGIN */
#include <unet/groups.h>

/* The code of a number; `draw` has 16 random bits. */
UNUSED static int KERNEL_code(real x, float low, float step, uint32_t draw) {
    SIZES;
    const int top = UNET_GROUP_TOP(CODE_BITS);
    if (ZEROS && !(x > 0))
        return 0;
    const real scaled = (x - low) * (UNET_GROUP_ONE / step);
    const real most = (real)(top - ZEROS) * UNET_GROUP_ONE,
               t = scaled > 0 ? scaled < most ? scaled : most : 0;
    int code = ZEROS + (int)(((uint32_t)t + draw) / UNET_GROUP_ONE);
    code = code < top ? code : top;
    if (SIGNED && step == step && (low + step * (real)code > 0) != (x > 0))
        code += x > 0 ? 1 : -1;
    return code;
}

/* The group of column `column` of block `block` of row r. */
UNUSED static void KERNEL_group(int n, int r, int block, int column, uint64_t key, uint8_t *group,
                                const stored *x) {
    SIZES;
    const int channels = C - 16 * block < 16 ? C - 16 * block : 16,
              points = W - 16 * column < 16 ? W - 16 * column : 16, apart = 2 * CODE_BITS;
    real lowest = INFINITY, highest = -INFINITY, other = 0;
    for (int p = 0; p < points; p++)
        for (int c = 0; c < channels; c++) {
            const real number = load(x, element(&X, n, 16 * block + c, r / H, r % H, 16 * column + p));
            other += number - number; /* a NaN, if one of them is none */
            if (ZEROS && !(number > 0))
                continue;
            lowest = number < lowest ? number : lowest;
            highest = number > highest ? number : highest;
        }
    const float low = lowest <= highest ? (float)lowest : 0, high = lowest <= highest ? (float)highest : 0,
                step = other == 0 ? unet_group_step(low, high, CODE_BITS, ZEROS) : (float)NAN;
    memset(group, 0, UNET_GROUP_BYTES(CODE_BITS));
    memcpy(group, &low, sizeof low);
    memcpy(group + sizeof low, &step, sizeof step);
    for (int p = 0; p < points; p++)
        for (int c = 0; c < channels; c++) {
            const int channel = 16 * block + c, w = 16 * column + p;
            const real number = load(x, element(&X, n, channel, r / H, r % H, w));
            const uint32_t draw = draws_of(draws_at(key, (uint32_t)r * (uint32_t)W + (uint32_t)w), channel);
            const int code = KERNEL_code(number, low, step, draw >> 16);
            group[UNET_GROUP_HEAD + p % apart * 16 + c] |= (uint8_t)(code << p / apart * CODE_BITS);
        }
}

UNUSED static void KERNEL(int n, int start, int64_t step, uint64_t seed, Rows rows, uint8_t *codes,
                          const stored *x) {
    SIZES;
    const int columns = UNET_GROUPS_ALONG(W);
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < UNET_GROUPS_ALONG(C); block++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int column = 0; column < columns; column++) {
                    const long group = block * columns + column;
                    KERNEL_group(i, r, block, column, draws_key(seed, step, NUMBER, start + i),
                                 codes + element(&CODES, i, 0, r / H, r % H, 0) +
                                     group * UNET_GROUP_BYTES(CODE_BITS),
                                 x);
                }
}
/* END */
