/* decompress.c - a tensor out of its codes, as unet/groups.h says. */
#include "coded.c"

#define KERNEL decompress
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
/* Channels that pad a block are zero. */
NOINLINE void KERNEL_group(stored *restrict y, const uint8_t *restrict group, int points, int channels) {
    SIZES;
    const Coded coded = coded_group(group);
    for (int p = 0; p < points; p++)
        for (int v = 0; v < PARTS; v++) {
            const Bits code = coded_lanes(&coded, CODE_BITS, p, v);
            const Vector x = coded_numbers(&coded, code - ZEROS),
                         number = ZEROS ? vector_choose(code > 0, x, (Vector){0}) : x;
            store(y + p * BLOCK + v * LANES, first_lanes(number, channels - v * LANES));
        }
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
