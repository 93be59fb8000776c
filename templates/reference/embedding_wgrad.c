/* embedding_wgrad.c - gradient of a table of rows: each row has the sum over the points that read it, in
 * their order. */
#include "prologue.c"

#define KERNEL embedding_wgrad
#include "../example.h"

/* BEGIN */
UNUSED static long KERNEL_row(real number) {
    SIZES;
    const double last = COUNT - 1, nearest = (double)number + 0.5;
    return nearest >= last ? (long)last : nearest > 0 ? (long)nearest : 0;
}

/* Row by row: the points that read it are looked for. */
UNUSED static void KERNEL(int n, real *dw, const void *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (long row = 0; row < COUNT; row++)
        for (int c = 0; c < C; c++) {
            real sum = ACCUMULATE ? dw[row * C + c] : 0;
            for (int i = 0; i < n; i++)
                for (int r = 0; r < D * H; r++)
                    for (int p = 0; p < W; p++) {
                        const real number = load_either(X_STAGED, x, element(&X, i, 0, r / H, r % H, p));
                        if (KERNEL_row(number) == row)
                            sum += load(dy, element(&DY, i, c, r / H, r % H, p));
                    }
            dw[row * C + c] = sum;
        }
}
/* END */
