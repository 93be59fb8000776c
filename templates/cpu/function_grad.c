/* function_grad.c - gradient of a function of each number. Channels that pad a block stay zero. */
#include "functions.c"

#define KERNEL function_grad
#define AT_RUN_TIME H, W, C
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < DX.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * DX.block; left > 0; at += LANES, left -= LANES) {
                    const Vector v = load_some(x + offset_of(&X, block, row) + at, left);
                    const Vector gradient = load_some(dy + offset_of(&DY, block, row) + at, left);
                    const int channels = DX.block == BLOCK ? C - block * BLOCK - at % BLOCK : LANES;
                    const Vector slope = function_slope(WHICH, v, (real)FIRST_NUMBER, (real)SECOND_NUMBER);
                    store_some(dx + offset_of(&DX, block, row) + at,
                               first_lanes(gradient * slope, channels), left);
                }
            }
}
/* END */
