/* mse_grad.c - gradient of the mean squared error by the prediction. */
#include "prologue.c"

#define KERNEL mse_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, stored *dp, const void *p, const void *t, const double *scale) {
    SIZES;
    const real factor =
        (real)(2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / (total * ((double)C * D * H * W)));
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int block = 0; block < DP.blocks; block++)
            for (int r = 0; r < D * H; r++) {
                const Place row = {i, r / H, r % H, 0};
                for (int at = 0, left = W * DP.block; left > 0; at += LANES, left -= LANES) {
                    Vector difference = load_either(P_STAGED, p, point(&P, block, row) + at, left) -
                                        load_either(T_STAGED, t, point(&T, block, row) + at, left);
                    store_some(dp + point(&DP, block, row) + at, factor * difference, left);
                }
            }
}
/* END */
