/* resize_labels.c - a map of classes made smaller: of each point the class of one point of x. */
#include "prologue.c"

#define KERNEL resize_labels
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, uint8_t *restrict y, const uint8_t *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++) {
            const Point to = {i, r / H, r % H, 0};
            const Point from = {i, (to.d * STEP_D + OFFSET_D) / UNIT_D, (to.h * STEP_H + OFFSET_H) / UNIT_H,
                                0};
            const uint8_t *in = x + offset_of(&X, 0, from);
            uint8_t *out = y + offset_of(&Y, 0, to);
            for (int w = 0; w < W; w++)
                out[w * Y.block] = in[(w * STEP_W + OFFSET_W) / UNIT_W * X.block];
        }
}
/* END */
