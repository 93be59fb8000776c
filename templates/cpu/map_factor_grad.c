/* map_factor_grad.c - gradient by a map of one channel that a was multiplied with: sums over the channels.
 */
#include "prologue.c"

#define KERNEL map_factor_grad
#define AT_RUN_TIME H, W
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict db, const stored *dy, const stored *a) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                Vector sum = {0};
                for (int v = 0; v < vectors(&A); v++)
                    sum += load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)) *
                           load_some(a + vector_at(&A, v, at), lanes(&A, v));
                real total = 0;
                for (int lane = 0; lane < LANES; lane++)
                    total += sum[lane];
                store_some(db + vector_at(&DB, 0, at), (Vector){total}, 1);
            }
}
/* END */
