/* channel_mean_grad.c - gradient of a mean over the channels: each has the same share. */
#include "prologue.c"

#define KERNEL channel_mean_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *restrict dx, const stored *dy) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    const Vector share =
                        (Vector){0} + load_some(dy + vector_at(&DY, 0, at), 1)[0] / (real)C;
                    store_some(dx + vector_at(&DX, v, at), first_lanes(share, C - v * LANES),
                               lanes(&DX, v));
                }
}
/* END */
