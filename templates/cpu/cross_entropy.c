/* cross_entropy.c - cross entropy of logits and labels; of one channel binary cross entropy. */
#include "labels.c"

#define KERNEL cross_entropy
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, int total, Rows rows, double *result, double *scratch, const stored *x,
                          const uint8_t *t, const void *map, double counted, const int32_t (*valid)[3]) {
    SIZES;
    const Classified by = {x,         t,         &X,
                           &T,        C,         CLASSES,
                           IGNORE,    {D, H, W}, WEIGHTED ? CLASS_WEIGHT : NULL,
                           SMOOTHING, GAMMA,     MAPPED ? map : NULL,
                           &MAP,      MAP_STAGED};
    classes_sum(n, rows, scratch, by, valid);
    classes_mean(n, total, rows, result, scratch, by, counted, ACCUMULATE);
}
/* END */
