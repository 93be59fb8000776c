/* gelu.c - x times the share of a normal distribution below x. */
#include "normal_shares.c"

#define KERNEL gelu
#define AT_RUN_TIME H, W
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
                    store_some(y + offset_of(&Y, block, row) + at,
                               v * vector_normal_share(v, vector_bell(v)), left);
                }
            }
}
/* END */
