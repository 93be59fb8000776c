/* point_softmax.c - exp(x) divided by its sum over all points of the channel; a NaN makes all of them NaN.
 */
#include "channel_groups.c"

#define KERNEL point_softmax
#define AT_RUN_TIME D, H, W, C
#include "../example.h"

/* BEGIN */
/* The maxima of the channels of a vector, which are subtracted so that nothing overflows. */
INLINE Vector KERNEL_largest(const stored *x, int i, int v) {
    SIZES;
    Vector largest = (Vector){0} - INFINITY;
    for (int r = 0; r < D * H; r++)
        for (int w = 0; w < W; w++)
            largest = vector_maximum(
                largest, load_some(x + vector_at(&X, v, (Point){i, r / H, r % H, w}), lanes(&X, v)));
    return largest;
}

/* The sums of the rows are added. */
INLINE Vector KERNEL_total(const stored *x, int i, int v, Vector largest) {
    SIZES;
    Vector total = {0};
    for (int r = 0; r < D * H; r++) {
        Vector sum = {0};
        for (int w = 0; w < W; w++)
            sum += vector_exp(load_some(x + vector_at(&X, v, (Point){i, r / H, r % H, w}), lanes(&X, v)) -
                              largest);
        total += sum;
    }
    return total;
}

UNUSED static void KERNEL(int n, stored *y, const stored *x) {
    SIZES;
#pragma omp for collapse(2) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&Y); v++) {
            const Vector largest = KERNEL_largest(x, i, v), total = KERNEL_total(x, i, v, largest);
            for (int r = 0; r < D * H; r++)
                for (int w = 0; w < W; w++) {
                    const Point at = {i, r / H, r % H, w};
                    const Vector share =
                        vector_exp(load_some(x + vector_at(&X, v, at), lanes(&X, v)) - largest) / total;
                    store_some(y + vector_at(&Y, v, at), first_lanes(share, C - v * LANES), lanes(&Y, v));
                }
        }
}
/* END */
