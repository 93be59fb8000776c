/* sign_grad.c - the gradient of a ReLU, or of a leaky one with SLOPE, by the signs of y, which waits in
 * codes (unet/groups.h). */
#include "coded.c"

#define KERNEL sign_grad
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
/* Channels that pad a block have gradients of zero. */
NOINLINE void KERNEL_group(stored *dx, const stored *dy, const uint8_t *restrict group, int points) {
    SIZES;
    const Coded coded = coded_group(group);
    for (int p = 0; p < points; p++)
        for (int v = 0; v < PARTS; v++) {
            const Bits code = coded_lanes(&coded, CODE_BITS, p, v),
                       above = ZEROS ? code > 0 : coded_numbers(&coded, code) > 0;
            const Vector gradient = load(dy + p * BLOCK + v * LANES);
            const Vector below = SLOPE == 0 ? (Vector){0} : gradient * (real)SLOPE;
            store(dx + p * BLOCK + v * LANES, vector_choose(above, gradient, below));
        }
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const uint8_t *codes, const stored *dy) {
    SIZES;
    const int columns = UNET_GROUPS_ALONG(W);
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < DX.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                const uint8_t *const from = codes + offset_of(&CODES, 0, row);
                for (int column = 0; column < columns; column++)
                    KERNEL_group(dx + offset_of(&DX, block, row) + (long)column * UNET_GROUP_SIZE,
                                 dy + offset_of(&DY, block, row) + (long)column * UNET_GROUP_SIZE,
                                 from + (block * columns + column) * UNET_GROUP_BYTES(CODE_BITS),
                                 min_int(W - column * UNET_GROUP_POINTS, UNET_GROUP_POINTS));
            }
}
/* END */
