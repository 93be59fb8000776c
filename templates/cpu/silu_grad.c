/* silu_grad.c - gradient of x * s, s = 1 / (1 + exp(-x)): s + x * s * (1 - s). */
#include "sigmoids.c"

#define KERNEL silu_grad
#define AT_RUN_TIME H, W
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
                    const Vector s = vector_sigmoid(v);
                    const Vector gradient = load_some(dy + offset_of(&DY, block, row) + at, left);
                    store_some(dx + offset_of(&DX, block, row) + at, gradient * s * (1 + v * (1 - s)),
                               left);
                }
            }
}
/* END */
