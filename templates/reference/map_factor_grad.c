/* map_factor_grad.c - gradient by a map of one channel that a was multiplied with: sums over the channels.
 */
#include "prologue.c"

#define KERNEL map_factor_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *db, const stored *dy, const stored *a) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int p = 0; p < W; p++) {
                double sum = 0;
                for (int c = 0; c < C; c++)
                    sum += (double)load(dy, element(&DY, i, c, r / H, r % H, p)) *
                           (double)load(a, element(&A, i, c, r / H, r % H, p));
                for (int c = 0; c < stored_channels(&DB); c++)
                    store(db, element(&DB, i, c, r / H, r % H, p), c == 0 ? (real)sum : 0);
            }
}
/* END */
