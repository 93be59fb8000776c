/* point_softmax_grad.c - gradient of a softmax over all points of each channel, from its output. */
#include "prologue.c"

#define KERNEL point_softmax_grad
#define AT_RUN_TIME D, H, W
#include "../example.h"

/* BEGIN */
/* The sums of y dy, row by row. */
INLINE Vector KERNEL_total(const stored *y, const stored *dy, int i, int v) {
    SIZES;
    Vector total = {0};
    for (int r = 0; r < D * H; r++) {
        Vector sum = {0};
        for (int w = 0; w < W; w++) {
            const Point at = {i, r / H, r % H, w};
            sum += load_some(y + vector_at(&Y, v, at), lanes(&Y, v)) *
                   load_some(dy + vector_at(&DY, v, at), lanes(&DY, v));
        }
        total += sum;
    }
    return total;
}

UNUSED static void KERNEL(int n, stored *dx, const stored *y, const stored *dy) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++) {
            const Vector total = KERNEL_total(y, dy, i, v);
            for (int r = 0; r < D * H; r++)
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    const Vector gradient = load_some(dy + vector_at(&DY, v, at), lanes(&DY, v)) - total;
                    store_some(dx + vector_at(&DX, v, at),
                               load_some(y + vector_at(&Y, v, at), lanes(&Y, v)) * gradient, lanes(&DX, v));
                }
        }
}
/* END */
