/* maximum_grad.c - gradient of the larger of two numbers, or of the smaller, by the first: of equals half.
 */
#include "prologue.c"

#define KERNEL maximum_grad
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *a, const stored *b,
                          const stored *dy) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < DX.blocks; block++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * DX.block; left > 0; at += LANES, left -= LANES) {
                    const Vector v = load_some(a + offset_of(&A, block, row) + at, left);
                    const Vector other = load_some(b + offset_of(&B, block, row) + at, left);
                    const Vector gradient = load_some(dy + offset_of(&DY, block, row) + at, left);
                    const Vector share = vector_choose(v == other, gradient / 2, gradient);
                    store_some(dx + offset_of(&DX, block, row) + at,
                               vector_choose(LARGER ? v < other : v > other, (Vector){0}, share), left);
                }
            }
}
/* END */
