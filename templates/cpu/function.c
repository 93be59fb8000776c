/* function.c - a function of each number. Channels that pad a block stay zero. */
#include "functions.c"

#define KERNEL function
#define AT_RUN_TIME H, W, C
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES) {
                    const Vector v = load_some(x + offset_of(&X, block, row) + at, left);
                    const int channels = Y.block == BLOCK ? C - block * BLOCK - at % BLOCK : LANES;
                    const Vector value = function_value(WHICH, v, (real)FIRST_NUMBER, (real)SECOND_NUMBER);
                    store_some(y + offset_of(&Y, block, row) + at, first_lanes(value, channels), left);
                }
            }
}
/* END */
