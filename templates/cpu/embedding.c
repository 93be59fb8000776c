/* embedding.c - a row of a table for each point: the row that the number of the point names. */
#include "prologue.c"

#define KERNEL embedding
#include "../example.h"

/* BEGIN */
/* The nearest row; a number that is none means the first. */
INLINE const real *KERNEL_row(const real *w, real number) {
    SIZES;
    const real last = COUNT - 1, nearest = number + 0.5f;
    return w + (nearest >= last ? COUNT - 1 : nearest > 0 ? (long)nearest : 0) * C;
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const void *x, const real *w) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++) {
                const Point at = {i, r / H, r % H, p};
                const real *const row = KERNEL_row(w, load_either(X_STAGED, x, vector_at(&X, 0, at), 1)[0]);
                for (int v = 0; v < vectors(&Y); v++) {
                    Vector values = {0};
                    for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++)
                        values[lane] = row[v * LANES + lane];
                    store_some(y + vector_at(&Y, v, at), values, lanes(&Y, v));
                }
            }
}
/* END */
