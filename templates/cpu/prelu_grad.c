/* prelu_grad.c - gradient of a ReLU whose slopes below zero are weights. */
#include "prologue.c"

#define KERNEL prelu_grad
#define AT_RUN_TIME RING, C, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *x, const stored *dy, const real *w) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                const Vector factor = SHARED ? (Vector){0} + w[0] : bias_vector(w, C, v);
                stored *to = dx + vector_at(&DX, v, row);
                const stored *at = x + vector_at(&X, v, row), *slope = dy + vector_at(&DY, v, row);
                for (int p = 0; p < W; p++) {
                    const Vector here = load_some(at + p * X.block, lanes(&X, v));
                    const Vector gradient = load_some(slope + p * DY.block, lanes(&DY, v));
                    store_some(to + p * DX.block, vector_choose(here > 0, gradient, gradient * factor),
                               lanes(&DX, v));
                }
            }
}
/* END */
