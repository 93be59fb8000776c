/* relu_grad.c - gradient of a ReLU, from its output. */
#include "prologue.c"

#define KERNEL relu_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, real *dx, const real *y, const real *dy) {
    SIZES;
    const int parts = DX.block == BLOCK ? PARTS : 1;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int first = 0; first < vectors(&DX); first += parts)
            for (int r = 0; r < D * H; r++)
                for (int q = 0; q < W * parts; q++) {
                    Place at = {i, r / H, r % H, q / parts};
                    int v = first + q % parts;
                    store_some(dx + vector_at(&DX, v, at),
                               vector_mask(load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)),
                                           load_some(y + vector_at(&Y, v, at), lanes(&Y, v))),
                               lanes(&DX, v));
                }
}
/* END */
