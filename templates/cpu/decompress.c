/* decompress.c - a tensor out of its codes, as unet/groups.h says. */
#include "prologue.c"

#define KERNEL decompress
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
#include <unet/groups.h>

/* Vector v of point p of a group. */
INLINE Vector KERNEL_numbers(const uint8_t *group, int p, int v, real low, real step) {
    SIZES;
    const int apart = 2 * CODE_BITS;
    Bytes bytes;
    memcpy(&bytes, group + UNET_GROUP_HEAD + p % apart * BLOCK + v * LANES, sizeof bytes);
    const Bits code =
        __builtin_convertvector(bytes, Bits) >> p / apart * CODE_BITS & UNET_GROUP_TOP(CODE_BITS);
    const Vector x = low + step * __builtin_convertvector(code - ZEROS, Vector);
    return ZEROS ? vector_choose(code > 0, x, (Vector){0}) : x;
}

NOINLINE void KERNEL_group(stored *restrict y, const uint8_t *restrict group, int points, int channels) {
    SIZES;
    real low, step;
    memcpy(&low, group, sizeof low);
    memcpy(&step, group + sizeof low, sizeof step);
    for (int p = 0; p < points; p++)
        for (int v = 0; v < PARTS; v++)
            store(y + p * BLOCK + v * LANES,
                  first_lanes(KERNEL_numbers(group, p, v, low, step), channels - v * LANES));
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const uint8_t *codes) {
    SIZES;
    const int columns = UNET_GROUPS_ALONG(W);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                const uint8_t *const from = codes + offset_of(&CODES, 0, row);
                stored *const to = y + offset_of(&Y, block, row);
                for (int column = 0; column < columns; column++)
                    KERNEL_group(to + (long)column * UNET_GROUP_SIZE,
                                 from + (block * columns + column) * UNET_GROUP_BYTES(CODE_BITS),
                                 min_int(W - column * UNET_GROUP_POINTS, UNET_GROUP_POINTS),
                                 min_int(C - block * BLOCK, BLOCK));
            }
}
/* END */
