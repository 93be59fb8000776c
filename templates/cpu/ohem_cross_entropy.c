/* ohem_cross_entropy.c - cross entropy of the points that are hardest to tell. */
#include "labels.c"

#define KERNEL ohem_cross_entropy
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, double *result, double *bounds, real *terms, double *scratch,
                          const stored *x, const uint8_t *t, const int32_t (*valid)[3]) {
    SIZES;
    const Classified by = {x, t, &X, &T, C, CLASSES, IGNORE, {D, H, W}, NULL, 0, 0, NULL, NULL, 0};
    const Hard hard = {THRESHOLD, SHARE, LEAST};
    hard_terms(n, rows, terms, TERMS.sample, scratch, by, valid);
    hard_loss(n, rows, result, bounds, terms, TERMS.sample, scratch, by, valid, hard, ACCUMULATE);
}
/* END */
