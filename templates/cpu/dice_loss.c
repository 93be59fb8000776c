/* dice_loss.c - 1 less the mean overlap of the classes: dice, Tversky's index. */
#include "labels.c"

#define KERNEL dice_loss
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, double *result, double *sums, double *scratch, const stored *x,
                          const uint8_t *t, const int32_t (*valid)[3]) {
    SIZES;
    const Ratio ratio = {OVER_BOTH, UNDER_BOTH, UNDER_PREDICTED, UNDER_TRULY, SMOOTH,     EPSILON,
                         FIRST,     SQUARED,    JOINT,           BATCH,       SUMS.sample};
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0, NULL, NULL, 0};
    overlaps_sum(n, rows, (void *)scratch, by, valid, ratio);
    overlap_loss(n, rows, result, sums, (void *)scratch, by, ratio, ACCUMULATE);
}
/* END */
