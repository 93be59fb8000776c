/* dice_loss_grad.c - gradient of the dice loss by the logits, from the sums that the loss left. */
#include "labels.c"

#define KERNEL dice_loss_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                          const double *sums, const double *scale) {
    SIZES;
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0};
    dice_slopes_store(n, rows, dx, &DX, by, (const void *)sums, FIRST, SMOOTH,
                      WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}
/* END */
