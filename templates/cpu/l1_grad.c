/* l1_grad.c - gradient of the mean absolute error by the prediction. */
#include "prologue.c"

#define KERNEL l1_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, real *dp, const real *p, const real *t) {
    SIZES;
    const int parts = DP.block == BLOCK ? PARTS : 1;
    const real factor = (real)(WEIGHT / (total * ((double)C * D * H * W)));
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DP); first += parts)
            for (int r = 0; r < D * H; r++)
                for (int q = 0; q < W * parts; q++) {
                    Place at = {i, r / H, r % H, q / parts};
                    int v = first + q % parts;
                    Vector difference = load_some(p + vector_at(&P, v, at), lanes(&P, v)) -
                                        load_some(t + vector_at(&T, v, at), lanes(&T, v));
                    Vector sign = vector_mask((Vector){0} + factor, difference) -
                                  vector_mask((Vector){0} + factor, -difference);
                    store_some(dp + vector_at(&DP, v, at), sign, lanes(&DP, v));
                }
}
/* END */
