/* gelu_grad.c - gradient of x times the share of a normal distribution below x. */
#include "normal_shares.c"

#define KERNEL gelu_grad
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
                    const Vector gradient = load_some(dy + offset_of(&DY, block, row) + at, left);
                    const Vector bell = vector_bell(v), density = 0.39894228040143268f * bell;
                    store_some(dx + offset_of(&DX, block, row) + at,
                               gradient * (vector_normal_share(v, bell) + v * density), left);
                }
            }
}
/* END */
