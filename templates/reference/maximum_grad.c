/* maximum_grad.c - gradient of the larger of two numbers, or of the smaller, by the first: of equals half.
 */
#include "prologue.c"

#define KERNEL maximum_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *a, const stored *b,
                          const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const real v = load(a, element(&A, i, c, r / H, r % H, p));
                    const real other = load(b, element(&B, i, c, r / H, r % H, p));
                    const real gradient = load(dy, element(&DY, i, c, r / H, r % H, p));
                    const int loses = LARGER ? v < other : v > other;
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          loses        ? 0
                          : v == other ? gradient / 2
                                       : gradient);
                }
}
/* END */
