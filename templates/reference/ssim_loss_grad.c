/* ssim_loss_grad.c - gradient of ssim_loss by the prediction. */
#include "similarity.c"

#define KERNEL ssim_loss_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    similarity_gradient(n, total, rows, dp, &DP, by, WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1), RANGE);
}
/* END */
