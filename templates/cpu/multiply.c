/* multiply.c - product of two tensors; b may be a number for each channel, or a map of one channel. */
#include "prologue.c"

#define KERNEL multiply
#define AT_RUN_TIME H, W, C
#include "../example.h"

/* BEGIN */
/* Vector v of what point p of a is multiplied with. */
INLINE Vector KERNEL_factor(Rows rows, const stored *b, int v, Point p) {
    SIZES;
    (void)rows; /* BH may be made of it */
    const Point at = {p.n, BD == 1 ? 0 : p.d, BH == 1 ? 0 : p.h, BW == 1 ? 0 : p.w};
    return B.block == 1 && A.block > 1 ? (Vector){0} + load_some(b + vector_at(&B, 0, at), 1)[0]
                                       : load_some(b + vector_at(&B, v, at), lanes(&B, v));
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *a, const stored *b) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = rows.begin; r < rows.end; r++)
                for (int q = 0; q < W * parts; q++) {
                    const Point at = {i, r / H, r % H, q / parts};
                    const int v = first + q % parts;
                    const Vector product =
                        load_some(a + vector_at(&A, v, at), lanes(&A, v)) * KERNEL_factor(rows, b, v, at);
                    store_some(y + vector_at(&Y, v, at), first_lanes(product, C - v * LANES), lanes(&Y, v));
                }
}
/* END */
