/* embedding.c - a row of a table for each point: the row that the number of the point names. */
#include "prologue.c"

#define KERNEL embedding
#include "../example.h"

/* BEGIN */
/* The nearest row; a number that is none means the first. */
UNUSED static long KERNEL_row(real number) {
    SIZES;
    const double last = COUNT - 1, nearest = (double)number + 0.5;
    return nearest >= last ? (long)last : nearest > 0 ? (long)nearest : 0;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const void *x, const real *w) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const real number = load_either(X_STAGED, x, element(&X, i, 0, r / H, r % H, p));
                    store(y, element(&Y, i, c, r / H, r % H, p), c < C ? w[KERNEL_row(number) * C + c] : 0);
                }
}
/* END */
