/* subtract.c - difference of two tensors. */
#include "prologue.c"

#define KERNEL subtract
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES)
                    store_some(y + offset_of(&Y, block, row) + at,
                               load_some(a + offset_of(&A, block, row) + at, left) -
                                   load_some(b + offset_of(&B, block, row) + at, left),
                               left);
            }
}
/* END */
