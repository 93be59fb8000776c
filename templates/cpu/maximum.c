/* maximum.c - the larger of two numbers, or the smaller; a NaN is either. */
#include "prologue.c"

#define KERNEL maximum
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
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES) {
                    const Vector v = load_some(a + offset_of(&A, block, row) + at, left);
                    const Vector other = load_some(b + offset_of(&B, block, row) + at, left);
                    const Bits takes = (LARGER ? v > other : v < other) | (v != v);
                    store_some(y + offset_of(&Y, block, row) + at, vector_choose(takes, v, other), left);
                }
            }
}
/* END */
