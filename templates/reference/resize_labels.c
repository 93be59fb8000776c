/* resize_labels.c - a map of classes made smaller: of each point the class of one point of x. */
#include "prologue.c"

#define KERNEL resize_labels
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, uint8_t *y, const uint8_t *x) {
    SIZES;
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const int d = (r / H * STEP_D + OFFSET_D) / UNIT_D,
                          h = (r % H * STEP_H + OFFSET_H) / UNIT_H, p = (w * STEP_W + OFFSET_W) / UNIT_W;
                y[element(&Y, i, 0, r / H, r % H, w)] = x[element(&X, i, 0, d, h, p)];
            }
}
/* END */
