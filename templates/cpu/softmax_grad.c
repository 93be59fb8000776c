/* softmax_grad.c - gradient of a softmax over the channels, from its output. */
#include "prologue.c"

#define KERNEL softmax_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int r = rows.begin; r < rows.end; r++)
            for (int w = 0; w < W; w++) {
                const Point at = {i, r / H, r % H, w};
                Vector sum = {0};
                for (int v = 0; v < vectors(&Y); v++)
                    sum += load_some(y + vector_at(&Y, v, at), lanes(&Y, v)) *
                           load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
                real total = 0;
                for (int lane = 0; lane < LANES; lane++)
                    total += sum[lane];
                for (int v = 0; v < vectors(&DX); v++) {
                    const Vector gradient = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)) - total;
                    const Vector product = load_some(y + vector_at(&Y, v, at), lanes(&Y, v)) * gradient;
                    store_some(dx + vector_at(&DX, v, at), first_lanes(product, C - v * LANES),
                               lanes(&DX, v));
                }
            }
}
/* END */
