/* embedding_wgrad.c - gradient of a table of rows: each row has the sum over the points that read it, in
 * their order.  A thread has some of the channels of all rows, so no two threads add to one number. */
#include "prologue.c"

#define KERNEL embedding_wgrad
#include "../example.h"

/* BEGIN */
INLINE real *KERNEL_row(real *dw, real number) {
    SIZES;
    const real last = COUNT - 1, nearest = number + 0.5f;
    return dw + (nearest >= last ? COUNT - 1 : nearest > 0 ? (long)nearest : 0) * C;
}

UNUSED static void KERNEL(int n, real *restrict dw, const void *x, const stored *dy) {
    SIZES;
#pragma omp for schedule(static)
    for (int v = 0; v < vectors(&DY); v++) {
        for (long row = 0; !ACCUMULATE && row < COUNT; row++)
            for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                dw[row * C + v * LANES + lane] = 0;
        for (int i = 0; i < n; i++)
            for (int r = 0; r < D * H; r++)
                for (int p = 0; p < W; p++) {
                    const Point at = {i, r / H, r % H, p};
                    real *const row = KERNEL_row(dw, load_either(X_STAGED, x, vector_at(&X, 0, at), 1)[0]);
                    const Vector slope = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
                    for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                        row[v * LANES + lane] += slope[lane];
                }
    }
}
/* END */
