/* slice_grad.c - gradient of a slice of the channels: zero for all others; ACCUMULATE: added to a. */
#include "prologue.c"

#define KERNEL slice_grad
#define AT_RUN_TIME C0, C, H, W
#include "../example.h"

/* BEGIN */
/* Vector v of what a point has of dy; zero for other channels. */
INLINE Vector KERNEL_more(const stored *dy, int v, Point at) {
    SIZES;
    const int begin = max_int(0, C0 - v * LANES), end = min_int(LANES, C0 + C - v * LANES);
    Vector more = {0};
    if (DY.block == BLOCK && begin == 0 && end == LANES && C0 % LANES == 0)
        return load(dy + vector_at(&DY, v - C0 / LANES, at));
    for (int lane = begin; lane < end; lane++) {
        const int c = v * LANES + lane - C0;
        more[lane] = load_some(dy + offset_of(&DY, c / DY.block, at) + c % DY.block, 1)[0];
    }
    return more;
}

UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy, const stored *a) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const Point at = {i, r / H, r % H, p};
                    const Vector more = KERNEL_more(dy, v, at);
                    const Vector before =
                        ACCUMULATE ? load_some(a + vector_at(&A, v, at), lanes(&A, v)) : (Vector){0};
                    store_some(dx + vector_at(&DX, v, at), ACCUMULATE ? before + more : more,
                               lanes(&DX, v));
                }
}
/* END */
