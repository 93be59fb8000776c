/* channel_factor_grad.c - gradient by numbers for each channel that a was multiplied with: sums over the
 * points. */
#include "prologue.c"

#define KERNEL channel_factor_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, stored *db, double *scratch, const stored *dy, const stored *a) {
    SIZES;
    (void)scratch;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DB); c++) {
            double sum = 0;
            for (int r = 0; c < C && r < D * H; r++)
                for (int p = 0; p < W; p++)
                    sum += (double)load(dy, element(&DY, i, c, r / H, r % H, p)) *
                           (double)load(a, element(&A, i, c, r / H, r % H, p));
            store(db, element(&DB, i, c, 0, 0, 0), (real)sum);
        }
}
/* END */
