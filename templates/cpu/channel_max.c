/* channel_max.c - maximum over the channels of each point; a NaN counts more than any number. */
#include "prologue.c"

#define KERNEL channel_max
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                real best = load_some(x + vector_at(&X, 0, at), 1)[0];
                for (int v = 0; v < vectors(&X); v++) {
                    const Vector here = load_some(x + vector_at(&X, v, at), lanes(&X, v));
                    for (int lane = 0; lane < min_int(LANES, C - v * LANES); lane++)
                        best = here[lane] > best || here[lane] != here[lane] ? here[lane] : best;
                }
                store_some(y + vector_at(&Y, 0, at), (Vector){best}, 1);
            }
}
/* END */
