/* softmax.c - exp(x) divided by its sum over the channels of the point; a NaN makes all of them NaN. */
#include "prologue.c"

#define KERNEL softmax
#include "../example.h"

/* BEGIN */
/* The maximum of a point, which is subtracted so that nothing overflows. */
INLINE real KERNEL_largest(const stored *x, Point at) {
    SIZES;
    real best = load_some(x + vector_at(&X, 0, at), 1)[0];
    for (int v = 0; v < vectors(&X); v++) {
        const Vector here = load_some(x + vector_at(&X, v, at), lanes(&X, v));
        for (int lane = 0; lane < min_int(LANES, C - v * LANES); lane++)
            best = here[lane] > best || here[lane] != here[lane] ? here[lane] : best;
    }
    return best;
}

UNUSED static void KERNEL(int n, Rows rows, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                const real largest = KERNEL_largest(x, at);
                Vector sum = {0};
                for (int v = 0; v < vectors(&X); v++)
                    sum +=
                        first_lanes(vector_exp(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - largest),
                                    C - v * LANES);
                real total = 0;
                for (int lane = 0; lane < LANES; lane++)
                    total += sum[lane];
                for (int v = 0; v < vectors(&Y); v++) {
                    const Vector share =
                        vector_exp(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - largest) / total;
                    store_some(y + vector_at(&Y, v, at), first_lanes(share, C - v * LANES), lanes(&Y, v));
                }
            }
}
/* END */
