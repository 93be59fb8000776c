/* slice_grad.c - gradient of a slice of the channels: zero for all others; ACCUMULATE: added to a. */
#include "prologue.c"

#define KERNEL slice_grad
#include "../example.h"

/* BEGIN */
UNUSED static void KERNEL(int n, Rows rows, stored *dx, const stored *dy, const stored *a) {
    SIZES;
#pragma omp for collapse(3) schedule(static)
    for (int i = 0; i < n; i++)
        for (int v = 0; v < vectors(&DX); v++)
            for (int r = rows.begin; r < rows.end; r++)
                for (int p = 0; p < W; p++) {
                    const Point at = {i, r / H, r % H, p};
                    Vector more = {0};
                    for (int lane = max_int(0, C0 - v * LANES); lane < min_int(LANES, C0 + C - v * LANES);
                         lane++) {
                        const int c = v * LANES + lane - C0;
                        more[lane] = load_some(dy + offset_of(&DY, c / DY.block, at) + c % DY.block, 1)[0];
                    }
                    if (ACCUMULATE)
                        more = load_some(a + vector_at(&A, v, at), lanes(&A, v)) + more;
                    store_some(dx + vector_at(&DX, v, at), more, lanes(&DX, v));
                }
}
/* END */
