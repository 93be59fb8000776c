/* smooth_l1_grad.c - gradient of smooth_l1 by the prediction. */
#include "prologue.c"

#define KERNEL smooth_l1_grad
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_slope(double p, double t, double beta) {
    return clamp((p - t) / beta, -1, 1);
}

UNUSED static void KERNEL(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    terms_store(n, total, rows, dp, &DP, by, weight, KERNEL_slope, BETA);
}
/* END */
