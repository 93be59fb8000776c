/* mse_grad.c - gradient of the mean squared error by the prediction. */
#include "prologue.c"

#define KERNEL mse_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, stored *dp, const void *p, const void *t, const double *scale) {
    SIZES;
    double factor = 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) / (total * ((double)C * D * H * W));
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DP); c++)
            for (int d = 0; d < D; d++)
                for (int h = 0; h < H; h++)
                    for (int v = 0; v < W; v++) {
                        double difference =
                            c < C ? (double)load_either(P_STAGED, p, element(&P, i, c, d, h, v)) -
                                        (double)load_either(T_STAGED, t, element(&T, i, c, d, h, v))
                                  : 0;
                        store(dp, element(&DP, i, c, d, h, v), (real)(factor * difference));
                    }
}
/* END */
