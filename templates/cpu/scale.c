/* scale.c - a factor, and a bias, for each channel, or, if SHARED, one for all; BELOW_ZERO: only where x is
 * not positive. */
#include "prologue.c"

#define KERNEL scale
#define AT_RUN_TIME RING, C, H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x, const real *w, const real *b) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++)
            for (int r = rows.begin; r < rows.end; r++) {
                const Point row = {i, r / H, r % H, 0};
                const Vector factor = SHARED ? (Vector){0} + w[0] : bias_vector(w, C, v);
                const Vector shift = BIAS ? bias_vector(b, C, v) : (Vector){0};
                stored *to = y + vector_at(&Y, v, row);
                const stored *from = x + vector_at(&X, v, row);
                for (int p = 0; p < W; p++) {
                    const Vector here = load_some(from + p * X.block, lanes(&X, v));
                    const Vector scaled = here * factor + shift;
                    store_some(to + p * Y.block,
                               BELOW_ZERO ? vector_choose(here > 0, here, scaled) : scaled, lanes(&Y, v));
                }
            }
}
/* END */
