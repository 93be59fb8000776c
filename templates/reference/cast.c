/* cast.c - a tensor out of an image as the loader left it. */
#include "prologue.c"

#define KERNEL cast
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const void *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++)
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          c < C ? load_either(X_STAGED, x, element(&X, i, c, r / H, r % H, p)) : 0);
}
/* END */
