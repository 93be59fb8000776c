/* mse_grad.c - gradient of the mean squared error by the prediction. */
#include "losses.c"

#define KERNEL mse_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = 2 * WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1);
    slopes_store(n, total, rows, dp, &DP, by, weight, slope_of_square, 0);
}
/* END */
