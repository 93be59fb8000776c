/* dice_loss.c - 1 less the mean dice of the classes, over the whole batch. */
#include "labels.c"

#define KERNEL dice_loss
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, double *result, double *sums, double *scratch, const stored *x,
                          const uint8_t *t, const int32_t (*valid)[3]) {
    SIZES;
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0};
    dice_loss(n, total, result, (void *)sums, (void *)scratch, by, valid, FIRST, SMOOTH, ACCUMULATE);
}
/* END */
