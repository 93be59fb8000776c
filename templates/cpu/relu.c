/* relu.c - max(x, 0); a NaN stays one. */
#include "prologue.c"

#define KERNEL relu
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *y, const real *x) {
    SIZES;
    const int parts = Y.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&Y); first += parts)
            for (int r = 0; r < D * H; r++)
                for (int q = 0; q < W * parts; q++) {
                    Place at = {i, r / H, r % H, q / parts};
                    int v = first + q % parts;
                    store_some(y + vector_at(&Y, v, at),
                               vector_relu(load_some(x + vector_at(&X, v, at), lanes(&X, v))),
                               lanes(&Y, v));
                }
}
/* END */
