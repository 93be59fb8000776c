/* add.c - sum of two tensors. */
#include "prologue.c"

#define KERNEL add
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *y, const real *a, const real *b) {
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
                               load_some(a + vector_at(&A, v, at), lanes(&A, v)) +
                                   load_some(b + vector_at(&B, v, at), lanes(&B, v)),
                               lanes(&Y, v));
                }
}
/* END */
