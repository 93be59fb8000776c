/* slice_grad.c - gradient of a slice of the channels: zero for all others; ACCUMULATE: added to a. */
#include "prologue.c"

#define KERNEL slice_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy, const stored *a) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&DX); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const real more =
                        inside(c - C0, C) ? load(dy, element(&DY, i, c - C0, r / H, r % H, p)) : 0;
                    store(dx, element(&DX, i, c, r / H, r % H, p),
                          ACCUMULATE ? load(a, element(&A, i, c, r / H, r % H, p)) + more : more);
                }
}
/* END */
