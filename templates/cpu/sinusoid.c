/* sinusoid.c - sines and cosines of a number at each point, of VALUES times it: half of the channels are
 * sines, the others cosines. */
#include "prologue.c"

#define KERNEL sinusoid
#include "../example.h"

/* BEGIN */
#include <math.h>

UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const void *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                const real number = load_either(X_STAGED, x, vector_at(&X, 0, at), 1)[0];
                for (int v = 0; v < vectors(&Y); v++) {
                    Vector waves = {0};
                    for (int lane = 0; lane < LANES && v * LANES + lane < C; lane++) {
                        const int c = v * LANES + lane, half = C / 2;
                        const real angle = number * (real)VALUES[c % half];
                        waves[lane] = (c < half) != COSINES_FIRST ? sinf(angle) : cosf(angle);
                    }
                    store_some(y + vector_at(&Y, v, at), waves, lanes(&Y, v));
                }
            }
}
/* END */
