/* cast.c - a tensor out of an image as the loader left it. */
#include "prologue.c"

#define KERNEL cast
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const void *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES)
                    store_some(y + offset_of(&Y, block, row) + at,
                               load_either(X_STAGED, x, offset_of(&X, block, row) + at, left), left);
            }
}
/* END */
