/* maximum.c - the larger of two numbers, or the smaller; a NaN is either. */
#include "prologue.c"

#define KERNEL maximum
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int c = 0; c < stored_channels(&Y); c++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const real v = load(a, element(&A, i, c, r / H, r % H, p));
                    const real other = load(b, element(&B, i, c, r / H, r % H, p));
                    store(y, element(&Y, i, c, r / H, r % H, p),
                          (LARGER ? v > other : v < other) || v != v ? v : other);
                }
}
/* END */
