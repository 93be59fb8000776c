/* lovasz_loss.c - the Lovasz extension of the Jaccard loss: of softmax, or, of one channel, of the hinge.
 */
#include "labels.c"

#define KERNEL lovasz_loss
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, double *result, double *present, real *slopes, double *scratch,
                          const stored *x, const uint8_t *t, const int32_t (*valid)[3]) {
    SIZES;
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0, NULL, NULL, 0};
    lovasz_of_batch(n, result, present, slopes, SLOPES.sample, (void *)scratch, by, valid, ACCUMULATE);
}
/* END */
