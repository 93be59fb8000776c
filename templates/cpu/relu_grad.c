/* relu_grad.c - gradient of a ReLU, from its output. */
#include "prologue.c"

#define KERNEL relu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < DX.blocks; block++)
            for (int r = 0; r < D * H; r++) {
                const Place row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * DX.block; left > 0; at += LANES, left -= LANES) {
                    Vector gradient = load_some(dy + point(&DY, block, row) + at, left);
                    store_some(dx + point(&DX, block, row) + at,
                               vector_mask(gradient, load_some(y + point(&Y, block, row) + at, left)),
                               left);
                }
            }
}
/* END */
