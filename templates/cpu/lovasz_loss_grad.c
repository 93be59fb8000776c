/* lovasz_loss_grad.c - gradient of the Lovasz loss by the logits, from the slopes that the loss left. */
#include "labels.c"

#define KERNEL lovasz_loss_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                          const double *present, const real *slopes, const double *scale) {
    SIZES;
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0, NULL, NULL, 0};
    lovasz_slopes_store(n, total, rows, dx, &DX, by, *present, slopes, SLOPES.sample,
                        WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}
/* END */
