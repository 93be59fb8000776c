/* channel_mean.c - mean over the channels of each point. */
#include "prologue.c"

#define KERNEL channel_mean
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                Vector sum = {0};
                for (int v = 0; v < vectors(&X); v++)
                    sum += load_some(x + vector_at(&X, v, at), lanes(&X, v));
                real total = 0;
                for (int lane = 0; lane < LANES; lane++)
                    total += sum[lane];
                store_some(y + vector_at(&Y, 0, at), (Vector){total / (real)C}, 1);
            }
}
/* END */
