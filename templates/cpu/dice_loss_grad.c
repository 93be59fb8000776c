/* dice_loss_grad.c - gradient of the loss by overlap by the logits, from the sums that the loss left. */
#include "labels.c"

#define KERNEL dice_loss_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                          const double *sums, const double *scale) {
    SIZES;
    const Ratio ratio = {OVER_BOTH, UNDER_BOTH, UNDER_PREDICTED, UNDER_TRULY, SMOOTH,     EPSILON,
                         FIRST,     SQUARED,    JOINT,           BATCH,       SUMS.sample};
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0, NULL, NULL, 0};
    overlap_slopes_store(n, total, rows, dx, &DX, by, sums, ratio,
                         WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}
/* END */
