/* psnr_loss_grad.c - gradient of psnr_loss by the prediction. */
#include "losses.c"

#define KERNEL psnr_loss_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
/* Sample i alone. */
INLINE Operand KERNEL_operand(Operand o, int i) {
    o.at = array_at(o.staged, o.at, i * o.layout->sample);
    return o;
}

INLINE Compared KERNEL_sample(Compared by, int i) {
    by.p = KERNEL_operand(by.p, i);
    by.t = KERNEL_operand(by.t, i);
    return by;
}

UNUSED static void KERNEL(int n, int total, Rows rows, stored *dp, const void *p, const void *t,
                          const double *errors, const double *scale) {
    SIZES;
    const Compared by = {{p, &P, P_STAGED}, {t, &T, T_STAGED}, C, {D, H, W}};
    const double weight = WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1) * 20 / log(10);
    for (int i = 0; i < n; i++)
        slopes_store(1, total, rows, dp + i * DP.sample, &DP, KERNEL_sample(by, i),
                     weight / errors[i * ERRORS.sample], slope_of_square, 0);
}
/* END */
