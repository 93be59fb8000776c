/* elu.c - x, or exp(x) - 1 where x is not positive. */
#include "prologue.c"

#define KERNEL elu
#include "../example.h"

/* BEGIN */
/* exp(x) - 1, for x that are not positive: near zero by its series, which keeps small numbers exact. */
INLINE Vector KERNEL_below(Vector x) {
    Vector sum = (Vector){0} + 1.0f / 5040;
    sum = sum * x + 1.0f / 720;
    sum = sum * x + 1.0f / 120;
    sum = sum * x + 1.0f / 24;
    sum = sum * x + 1.0f / 6;
    sum = sum * x + 0.5f;
    return vector_choose(x > -0.35f, sum * x * x + x, vector_exp(x) - 1);
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < Y.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * Y.block; left > 0; at += LANES, left -= LANES) {
                    const Vector v = load_some(x + offset_of(&X, block, row) + at, left);
                    store_some(y + offset_of(&Y, block, row) + at, vector_choose(v > 0, v, KERNEL_below(v)),
                               left);
                }
            }
}
/* END */
