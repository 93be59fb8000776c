/* channel_factor_grad.c - gradient by numbers for each channel that a was multiplied with: sums over the
 * points, row by row. */
#include "prologue.c"

#define KERNEL channel_factor_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *restrict db, double *scratch, const stored *dy, const stored *a) {
    SIZES;
    (void)scratch;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DB); v++) {
            Vector total = {0};
            for (int r = 0; r < D * H; r++) {
                Vector sum = {0};
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    sum += load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)) *
                           load_some(a + vector_at(&A, v, at), lanes(&A, v));
                }
                total += sum;
            }
            store_some(db + vector_at(&DB, v, (Point){i, 0, 0, 0}), total, lanes(&DB, v));
        }
}
/* END */
