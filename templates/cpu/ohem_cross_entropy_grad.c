/* ohem_cross_entropy_grad.c - its gradient by the logits, at the points that the loss chose. */
#include "labels.c"

#define KERNEL ohem_cross_entropy_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, Rows rows, stored *dx, const stored *x, const uint8_t *t,
                          const double *bounds, const real *terms, const double *scale) {
    SIZES;
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0, NULL, NULL, 0};
    hard_slopes_store(n, total, rows, dx, &DX, by, bounds, terms, TERMS.sample,
                      WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1));
}
/* END */
