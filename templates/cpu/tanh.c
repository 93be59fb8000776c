/* tanh.c - hyperbolic tangent. */
#include "prologue.c"

#define KERNEL tanh_map
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
/* By a polynomial near zero, which keeps small numbers exact; else from exp(-2|x|), which cannot overflow.
 */
INLINE Vector KERNEL_of(Vector x) {
    const Vector size = (Vector)((Bits)x & INT32_MAX), z = x * x, e = vector_exp(-2 * size);
    Vector sum = (Vector){0} - 5.70498872745e-3f;
    sum = sum * z + 2.06390887954e-2f;
    sum = sum * z - 5.37397155531e-2f;
    sum = sum * z + 1.33314422036e-1f;
    sum = sum * z - 3.33332819422e-1f;
    const Vector far = (Vector)((Bits)((1 - e) / (1 + e)) | ((Bits)x & INT32_MIN));
    return vector_choose(size < 0.625f, sum * z * x + x, far);
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
                    store_some(y + offset_of(&Y, block, row) + at, KERNEL_of(v), left);
                }
            }
}
/* END */
