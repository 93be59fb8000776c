/* sinusoid_grad.c - gradient of sines and cosines by the number: the sum over the channels, in order. */
#include "prologue.c"

#define KERNEL sinusoid_grad
#include "../example.h"

/* BEGIN */
#include <math.h>

UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const void *x, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                const real number = load_either(X_STAGED, x, vector_at(&X, 0, at), 1)[0];
                real sum = 0;
                for (int v = 0; v < vectors(&DY); v++) {
                    const Vector slopes = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
                    for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++) {
                        const int c = v * LANES + lane, half = C / 2;
                        const real angle = number * (real)VALUES[c % half];
                        sum += slopes[lane] * (real)VALUES[c % half] *
                               ((c < half) != COSINES_FIRST ? cosf(angle) : -sinf(angle));
                    }
                }
                store_some(dx + vector_at(&DX, 0, at), (Vector){sum}, lanes(&DX, 0));
            }
}
/* END */
