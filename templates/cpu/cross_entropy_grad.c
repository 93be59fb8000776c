/* cross_entropy_grad.c - gradient of the cross entropy by the logits. */
#include "labels.c"

#define KERNEL cross_entropy_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const uint8_t *t, const void *map,
                          const double *scale, double counted) {
    SIZES;
    const Classified by = {x,         t,         &X,
                           &T,        C,         CLASSES,
                           IGNORE,    {D, H, W}, WEIGHTED ? CLASS_WEIGHT : NULL,
                           SMOOTHING, GAMMA,     MAPPED ? map : NULL,
                           &MAP,      MAP_STAGED};
    class_slopes_store(n, rows, dx, &DX, by, WEIGHT * (SCALED ? scale[LOSS_SCALE] : 1), counted);
}
/* END */
