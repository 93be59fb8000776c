/* smooth_l1_grad.c - gradient of smooth_l1 by the prediction. */
#include "losses.c"

#define KERNEL smooth_l1_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
INLINE Vector KERNEL_slope(Vector difference, Vector factor, real beta) {
    const Vector slope = difference / beta;
    const Vector less = vector_choose(slope > 1, (Vector){0} + 1, slope);
    return factor * vector_choose(less < -1, (Vector){0} - 1, less);
}

UNUSED static void KERNEL(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    slopes_store(n, total, rows, dp, &DP, by, weight, KERNEL_slope, BETA);
}
/* END */
