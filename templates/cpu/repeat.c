/* repeat.c - x, repeated along each axis that has one channel, plane, row or point. */
#include "prologue.c"

#define KERNEL repeat
#include "../example.h"

/* BEGIN */
/* Vector v of what stands at point p. */
INLINE Vector KERNEL_at(Rows rows, const stored *x, int v, Point p) {
    SIZES;
    (void)rows; /* BH may be made of it */
    const Point at = {p.n, BD == 1 ? 0 : p.d, BH == 1 ? 0 : p.h, BW == 1 ? 0 : p.w};
    return X.block == 1 && Y.block > 1 ? (Vector){0} + load_some(x + vector_at(&X, 0, at), 1)[0]
                                       : load_some(x + vector_at(&X, v, at), lanes(&X, v));
}

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * parts; q++) {
                    const Point at = {i, r / H, r % H, q / parts};
                    const int v = first + q % parts;
                    store_some(y + vector_at(&Y, v, at),
                               first_lanes(KERNEL_at(rows, x, v, at), C - v * LANES), lanes(&Y, v));
                }
}
/* END */
