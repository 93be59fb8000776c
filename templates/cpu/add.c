/* add.c - sum of two tensors, or, PARAMETERS, of two gradients of a parameter. */
#include "prologue.c"

#define KERNEL add
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, void *y, const void *a, const void *b) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES) {
                    Vector sum = load_either(PARAMETERS, a, offset_of(&A, block, row) + at, left) +
                                 load_either(PARAMETERS, b, offset_of(&B, block, row) + at, left);
                    store_either(PARAMETERS, y, offset_of(&Y, block, row) + at, sum, left);
                }
            }
}
/* END */
