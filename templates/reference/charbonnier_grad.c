/* charbonnier_grad.c - gradient of the Charbonnier loss by the prediction. */
#include "prologue.c"

#define KERNEL charbonnier_grad
#include "../example.h"

/* BEGIN */
UNUSED static double KERNEL_slope(double p, double t, double epsilon) {
    return (p - t) / sqrt((p - t) * (p - t) + epsilon * epsilon);
}

UNUSED static void KERNEL(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    terms_store(n, total, rows, dp, &DP, by, weight, KERNEL_slope, EPSILON);
}
/* END */
