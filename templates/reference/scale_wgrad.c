/* scale_wgrad.c - gradients of a factor and a bias for each channel, or, if SHARED, of one factor for all;
 * BELOW_ZERO: of factors where x is not positive.  Either may be absent. */
#include "prologue.c"

#define KERNEL scale_wgrad
#include "../example.h"

/* BEGIN */
/* Adds dy x and dy of channel c of a sample. */
UNUSED static void KERNEL_add(double sum[2], int i, int c, const stored *x, const stored *dy) {
    SIZES;
    for (int r = 0; r < D * H; r++)
        for (int p = 0; p < W; p++) {
            const double v = (double)load(x, element(&X, i, c, r / H, r % H, p)),
                         slope = (double)load(dy, element(&DY, i, c, r / H, r % H, p));
            sum[0] += BELOW_ZERO && v > 0 ? 0 : v * slope;
            sum[1] += slope;
        }
}

UNUSED static void KERNEL(int n, real *dw, real *db, double *scratch, const stored *x, const stored *dy) {
    SIZES;
    (void)scratch;
#pragma omp for schedule(static)
    for (int k = 0; k < (SHARED ? 1 : C); k++)
        for (int i = 0; i < n; i++) {
            const int more = ACCUMULATE || i > 0;
            double sum[2] = {0, 0};
            for (int c = k; c < (SHARED ? C : k + 1); c++)
                KERNEL_add(sum, i, c, x, dy);
            if (dw != NULL)
                dw[k] = (more ? dw[k] : 0) + (real)sum[0];
            if (BIAS)
                db[k] = (more ? db[k] : 0) + (real)sum[1];
        }
}
/* END */
