/* affine.c - TIMES * x + TERM; channels that only pad a block stay zero. */
#include "prologue.c"

#define KERNEL affine
#define AT_RUN_TIME H, W, C
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * parts; q++) {
                    const Point at = {i, r / H, r % H, q / parts};
                    const int v = first + q % parts;
                    const Vector sum =
                        (real)TIMES * load_some(x + vector_at(&X, v, at), lanes(&X, v)) + (real)TERM;
                    store_some(y + vector_at(&Y, v, at), first_lanes(sum, C - v * LANES), lanes(&Y, v));
                }
}
/* END */
